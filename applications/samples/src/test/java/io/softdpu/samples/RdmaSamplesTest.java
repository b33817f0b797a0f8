package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.execution.Sanitizer;
import io.softdpu.rdma.Rdma;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.Smoke;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of the RDMA samples. They run on threads of this JVM; a side that is killed, or that has a
 * user, is a process.
 */
class RdmaSamplesTest extends RdmaSamplesFixture {
    private static final int SEEDS = 3;

    /** One that is killed, or has a user. */
    private Program startProcess(Processes processes, String name, String... options) {
        return startProcess(processes, JavaCommand.ofClass(SampleProgram.class), name, options);
    }

    private Program startProcess(
            Processes processes, JavaCommand command, String name, String... options) {
        Path own = ownFolder(name);
        ChildProcess process =
                processes.start(command.withArguments(arguments(name, own, options)));
        return new Program(name, own, new RunningSample.OfProcess(process));
    }

    private Program startPausingProcess(Processes processes, String pauseAfter, String name) {
        return startProcess(
                processes,
                JavaCommand.ofClass(SampleProgram.class)
                        .withEnvironment(SampleProgram.PAUSE_AFTER, pauseAfter),
                name);
    }

    @Smoke
    @Test
    void shouldReadFromAResponderOfAnotherProcess(Processes processes) {
        Pair pair =
                new Pair(
                        startProcess(processes, "rdma-read-responder"),
                        start("rdma-read-requester"));
        transfer(pair);
    }

    @Test
    @Clause({"rdma-203", "rdma-204", "rdma-205"})
    @Clause({"rdma-224", "rdma-243"})
    void shouldExportConnectionAndMemoryWhereTheyAreNeeded() {
        Pair read = run("rdma-read-responder", "rdma-read-requester");
        assertThat(read.first().fileLines())
                .containsExactly(
                        "connection descriptor written, copy it to the peer: file",
                        "mmap descriptor written, copy it to the peer: file",
                        "waiting for the connection descriptor of rdma-read-requester: file");
        assertThat(read.second().fileLines())
                .containsExactly(
                        "connection descriptor written, copy it to the peer: file",
                        "waiting for the connection descriptor of rdma-read-responder: file",
                        "waiting for the mmap descriptor of rdma-read-responder: file");
        assertThat(read.first().folder().resolve("local")).as("its own").doesNotExist();
        assertThat(read.first().folder().resolve("memory")).as("its own").doesNotExist();
        assertThat(read.first().folder().resolve("remote")).as("the user's copy").exists();
    }

    @Test
    @Clause({"rdma-231", "rdma-232", "rdma-235"})
    void shouldLogTheStatesInTheirOrder() {
        Pair pair = run("rdma-receive", "rdma-send");
        for (Program each : List.of(pair.first(), pair.second())) {
            assertThat(each.lines().stream().filter(line -> line.startsWith("rdma: ")))
                    .containsExactly(
                            "rdma: IDLE to STARTING",
                            "rdma: STARTING to RUNNING",
                            "rdma: RUNNING to STOPPING",
                            "rdma: STOPPING to IDLE");
            assertThat(each.lines()).endsWith("rdma: STOPPING to IDLE");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "rdma-read-responder,rdma-read-requester",
        "rdma-write-immediate-responder,rdma-write-immediate-requester"
    })
    @Clause({"rdma-239", "rdma-243"})
    @Clause({"rdma-251", "rdma-258"})
    void shouldExportTheMemoryOfTheResponderAlone(String responder, String requester) {
        Pair pair = run(responder, requester);
        assertThat(pair.first().fileLines())
                .contains("mmap descriptor written, copy it to the peer: file")
                .noneMatch(line -> line.startsWith("waiting for the mmap descriptor"));
        assertThat(pair.second().fileLines())
                .contains("waiting for the mmap descriptor of " + responder + ": file")
                .noneMatch(line -> line.startsWith("mmap descriptor written"));
    }

    /** The guide's other samples export no memory and use none of the peer's. */
    @ParameterizedTest
    @ValueSource(strings = {"", "-immediate"})
    @Clause({"rdma-260", "rdma-265"})
    @Clause({"rdma-267", "rdma-273"})
    void shouldExportNoMemoryToSendAndReceive(String kind) {
        Pair pair = run("rdma-receive" + kind, "rdma-send" + kind);
        for (Program each : List.of(pair.first(), pair.second())) {
            assertThat(each.fileLines()).hasSize(2).noneMatch(line -> line.contains("mmap"));
            assertThat(SampleProgram.find(each.name()).options())
                    .noneMatch(option -> option.longName().equals("mmap-descriptor-path"));
        }
    }

    @StartsProcesses
    @Test
    @Clause({"rdma-244", "rdma-245", "rdma-246"})
    @Clause({"rdma-247", "rdma-248", "rdma-249"})
    void shouldWriteToTheResponderWhoseUserKnowsWhenItIsDone(Processes processes) {
        Pair pair =
                new Pair(
                        startProcess(
                                processes,
                                JavaCommand.ofClass(SampleProgram.class)
                                        .withEnvironment(SampleProgram.TELL_END_OF_PEER, "yes"),
                                "rdma-write-responder"),
                        start("rdma-write-requester"));
        pair.copyAll();
        pair.second().assertEndsWell();
        assertThat(pair.second().lines())
                .isEqualTo(statesAround(SUBMITTED, "written: bytes=13, text=Hi DOCA RDMA!"));
        pair.first().run().awaitLine("^press Enter when rdma-write-requester is done$");
        pair.first().run().awaitLine("^" + SampleProgram.PEER_HAS_ENDED);
        assertThat(pair.first().lines())
                .as("does not know")
                .noneMatch(line -> line.contains("text="));
        pair.first().run().enter();
        pair.first().assertEndsWell();
        assertThat(pair.first().lines())
                .isEqualTo(
                        statesAround(
                                "press Enter when rdma-write-requester is done",
                                SampleProgram.PEER_HAS_ENDED,
                                "written by the peer: bytes=13, text=Hi DOCA RDMA!"));
    }

    /** As in a script, whose input has ended. */
    @StartsProcesses
    @Test
    @Clause("rdma-248")
    void shouldPrintWhatWasWrittenWithoutAUserWhenTheRequesterHasGone(Processes processes)
            throws IOException {
        Pair pair =
                new Pair(
                        startProcess(processes, "rdma-write-responder"),
                        start("rdma-write-requester"));
        pair.first().process().standardInput().close();
        pair.copyAll();
        pair.assertEndWell();
        assertThat(pair.first().lines())
                .contains("written by the peer: bytes=13, text=Hi DOCA RDMA!");
    }

    @StartsProcesses
    @Test
    @Clause({"rdma-217", "rdma-220", "rdma-248"})
    void shouldFailIfNothingWasWrittenWhenTheUserSaysSo(Processes processes) {
        Program responder = startProcess(processes, "rdma-write-responder");
        Program requester = startPausing("rdma: STARTING to RUNNING", "rdma-write-requester");
        new Pair(responder, requester).copyAll();
        responder.run().awaitLine("^press Enter");
        requester.run().awaitLine("^rdma: STARTING to RUNNING");
        responder.run().enter();
        responder.assertFails(3, "memory holds no text of the peer: bytes=257, textBytes=0");
        assertThat(responder.lines())
                .endsWith("rdma: RUNNING to STOPPING", "rdma: STOPPING to IDLE");
        requester.run().enter();
        assertThat(requester.run().awaitExit()).isEqualTo(1);
    }

    @Test
    @Clause({"rdma-274", "rdma-275", "rdma-276"})
    @Clause({"rdma-278", "rdma-279", "rdma-281"})
    void shouldSignalTheResponderByItsSyncEventAndReadItsSignal() {
        Pair pair = run("rdma-sync-event-responder", "rdma-sync-event-requester");
        assertThat(pair.second().lines())
                .isEqualTo(
                        statesAround(
                                "signalling the remote sync event: " + SIGNAL,
                                "submitted: remainingTasks=3",
                                "signalled, waiting for the signal of rdma-sync-event-responder",
                                "submitted: remainingTasks=2",
                                "signalled by the peer: " + ANSWER,
                                "announcing completion: " + COMPLETION,
                                "submitted: remainingTasks=1",
                                "completion is announced"));
        assertThat(pair.first().lines())
                .isEqualTo(
                        statesAround(
                                "waiting for the signal of rdma-sync-event-requester",
                                "signalled by the peer: " + SIGNAL,
                                "signalling the sync event: " + ANSWER,
                                "signalled, waiting for the completion of"
                                        + " rdma-sync-event-requester",
                                "completed by the peer: " + COMPLETION));
        assertThat(pair.first().fileLines())
                .containsExactly(
                        "connection descriptor written, copy it to the peer: file",
                        "sync event descriptor written, copy it to the peer: file",
                        "waiting for the connection descriptor of rdma-sync-event-requester: file");
        assertThat(pair.second().fileLines())
                .endsWith(
                        "waiting for the sync event descriptor of rdma-sync-event-responder: file");
        assertThat(pair.first().folder().resolve("memory")).as("its own").doesNotExist();
    }

    /** One side is paused before it signals; the other must not go on. */
    @ParameterizedTest
    @CsvSource({
        "rdma-sync-event-requester,signalling the remote,waiting for the signal,signalled",
        "rdma-sync-event-responder,signalling the sync,submitted: remainingTasks=2,signalled by",
        "rdma-sync-event-requester,announcing completion,signalled,completed"
    })
    @Clause({"rdma-277", "rdma-280", "rdma-282"})
    void shouldNotGoOnBeforeTheSignalOfThePeer(
            String paused, String pause, String reached, String next) {
        Program still = startPausing(pause, paused);
        Program waiting = start(otherSide(paused));
        Pair pair = paired(still, waiting);
        pair.copyAll();
        still.run().awaitLine("^" + pause);
        waiting.run().awaitLine("^" + reached);
        assertThat(waiting.lines()).noneMatch(line -> line.startsWith(next));
        assertThat(waiting.run().isAlive()).as("waits").isTrue();
        still.run().enter();
        pair.assertEndWell();
        assertThat(waiting.lines()).anyMatch(line -> line.startsWith(next));
    }

    private static String otherSide(String eventSample) {
        return eventSample.endsWith("responder")
                ? "rdma-sync-event-requester"
                : "rdma-sync-event-responder";
    }

    private static Pair paired(Program one, Program other) {
        return one.name().endsWith("responder") ? new Pair(one, other) : new Pair(other, one);
    }

    /** Without a time limit of minutes: its connection tells. */
    @StartsProcesses
    @ParameterizedTest
    @CsvSource({
        "rdma-sync-event-requester,rdma: STARTING to RUNNING,waiting for the signal",
        "rdma-sync-event-requester,signalled by the peer,signalled",
        "rdma-sync-event-responder,rdma: STARTING to RUNNING,submitted: remainingTasks=2",
        "rdma-sync-event-responder,signalled by the peer,submitted: remainingTasks=2"
    })
    @Clause({"rdma-277", "rdma-280", "rdma-282"})
    void shouldFailInPlaceOfAWaitForASignalIfThePeerIsKilled(
            String killed, String pause, String reached, Processes processes) {
        Program victim = startPausingProcess(processes, pause, killed);
        Program other = start(otherSide(killed));
        paired(victim, other).copyAll();
        victim.run().awaitLine("^" + pause);
        other.run().awaitLine("^" + reached);
        victim.process().kill();
        other.assertFails(1, "CONNECTION_RESET");
        assertThat(other.lines()).endsWith("rdma: RUNNING to STOPPING", "rdma: STOPPING to IDLE");
    }

    /** As if it had forgotten its last signal: the descriptor is none of memory. */
    @Test
    @Clause({"rdma-278", "rdma-282"})
    void shouldFailIfTheRequesterDisconnectsWithoutCompletion() {
        Program responder = start("rdma-sync-event-responder");
        Program other = start("rdma-write-requester");
        new Pair(responder, other).copyAll();
        other.assertFails(1, "INVALID_VALUE");
        responder.assertFails(
                1,
                "CONNECTION_RESET: rdma-sync-event-requester has ended without completion:"
                        + " value=0x0, expected=0xffffffffffffffff");
    }

    /** Neither runs before the user has copied the last descriptor that it needs. */
    @Test
    @Clause({"rdma-212", "rdma-224"})
    void shouldWaitInStartingUntilTheUserHasCopied() {
        Pair pair = startPair("rdma-read-responder", "rdma-read-requester");
        pair.first().run().awaitLine("^waiting for the connection descriptor");
        pair.second().run().awaitLine("^waiting for the connection descriptor");
        pair.second().copyConnection(pair.first());
        pair.first().copyConnection(pair.second());
        pair.second().run().awaitLine("^waiting for the mmap descriptor");
        for (Program each : List.of(pair.first(), pair.second())) {
            assertThat(each.lines()).containsExactly("rdma: IDLE to STARTING");
        }
        pair.first().copyShared(pair.second());
        pair.assertEndWell();
    }

    @ParameterizedTest
    @CsvSource({
        "rdma-read-responder,read-string,rdma-read-requester,none",
        "rdma-receive,none,rdma-send,send-string",
        "rdma-receive-immediate,none,rdma-send-immediate,send-string",
        "rdma-write-immediate-responder,none,rdma-write-immediate-requester,write-string"
    })
    @Clause({"rdma-207", "rdma-208", "rdma-209"})
    @Clause("rdma-218")
    void shouldTransferTheGivenString(
            String first, String ofFirst, String second, String ofSecond) {
        String text = "Grüße, DPU. ".repeat(18).strip();
        Pair pair =
                new Pair(
                        start(first, options(ofFirst, text)),
                        start(second, options(ofSecond, text)));
        pair.copyAll();
        pair.assertEndWell();
        for (Program each : List.of(pair.first(), pair.second())) {
            assertThat(each.lines().stream().filter(line -> line.endsWith("text=" + text)))
                    .as(each.name())
                    .hasSize(each.name().equals("rdma-read-responder") ? 0 : 1);
        }
    }

    private static String[] options(String option, String text) {
        return option.equals("none")
                ? new String[] {"gid-index=1"}
                : new String[] {"gid-index=1", option + "=" + text};
    }

    @Test
    @Clause({"rdma-202", "rdma-211", "rdma-234"})
    void shouldRunOnTheNamedDevicesOfAnySide() {
        Pair pair =
                new Pair(
                        start("rdma-read-responder", "device=0b:00.1"),
                        start("rdma-read-requester", "device=t0"));
        pair.copyAll();
        pair.assertEndWell();
        assertThat(pair.second().lines()).contains("read: bytes=13, text=Hi DOCA RDMA!");
    }

    /** A callback that had its program by another way would not miss it. */
    @Test
    @Clause({"rdma-233", "rdma-283"})
    void shouldReachTheProgramFromItsCallbacksByTheUserDataOfTheContext() {
        List<Object> userObjects = new ArrayList<>();
        RdmaSample sample =
                new ChangedSample("rdma-receive") {
                    @Override
                    void configure(RdmaProgram program) {
                        super.configure(program);
                        userObjects.add(program.rdma().userObject());
                        program.rdma().setUserObject(null);
                    }
                };
        Path own = ownFolder("rdma-receive");
        SampleSettings settings =
                SampleProgram.settings(arguments("rdma-receive", own, new String[0]));
        PrintStream out = new PrintStream(OutputStream.nullOutputStream());
        assertThatThrownBy(() -> sample.run(settings, out))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("context of a sample has no program: context=rdma");
        assertThat(userObjects).singleElement().isInstanceOf(RdmaProgram.class);
        assertThat(own.resolve("local")).doesNotExist();
    }

    /** The result is that of the verification, and the context stops all the same. */
    @ParameterizedTest
    @CsvSource({
        "rdma-receive-immediate,rdma-send,SEND,SEND_IMMEDIATE",
        "rdma-receive,rdma-send-immediate,SEND_IMMEDIATE,SEND",
    })
    @Clause({"rdma-217", "rdma-220", "rdma-221"})
    @Clause({"rdma-236", "rdma-271"})
    void shouldFailForAnotherOperationThanThePeers(
            String receiver, String sender, String actual, String expected) {
        Pair pair = startPair(receiver, sender);
        pair.copyAll();
        pair.second().assertEndsWell();
        pair.first()
                .assertFails(
                        3,
                        "operation of the peer is another: opcode="
                                + actual
                                + ", expected="
                                + expected);
        pair.first().assertHasStoppedInItsLoop();
        assertThat(pair.first().lines()).noneMatch(line -> line.startsWith("received"));
    }

    /** Its receive has no buf: the value that is awaited comes with a write. */
    @Test
    @Clause("rdma-254")
    void shouldFailForASendInPlaceOfAWriteWithImmediate() {
        Program responder = start("rdma-write-immediate-responder");
        Program sender = start("rdma-send-immediate");
        responder.copyConnection(sender);
        sender.copyConnection(responder);
        responder.assertFails(1, "TOO_BIG: task of the sample has failed");
        sender.assertFails(1, "task of the sample has failed: sample=rdma-send-immediate");
    }

    @StartsProcesses
    @Test
    @Clause({"rdma-220", "rdma-236", "rdma-247"})
    void shouldFailToReadFromAResponderThatPermitsWritesAlone(Processes processes) {
        Pair pair =
                new Pair(
                        startProcess(processes, "rdma-write-responder"),
                        start("rdma-read-requester"));
        pair.copyAll();
        pair.second().assertFails(1, "NOT_PERMITTED");
        assertThat(pair.second().lines())
                .endsWith("rdma: RUNNING to STOPPING", "rdma: STOPPING to IDLE");
        pair.first().process().kill();
    }

    /** The receiver runs and does not submit its receive: with all defaults that is fatal. */
    @ParameterizedTest
    @CsvSource({
        "rdma-receive,rdma-send",
        "rdma-receive-immediate,rdma-send-immediate",
        "rdma-write-immediate-responder,rdma-write-immediate-requester"
    })
    @Clause({"rdma-255", "rdma-263", "rdma-270"})
    void shouldFailOnceTheRetriesAreUsedUpWithoutAReceive(String receiver, String sender) {
        Pair pair = new Pair(startPausing("rdma: STARTING to RUNNING", receiver), start(sender));
        pair.copyAll();
        pair.second()
                .assertFails(
                        1,
                        "IO_FAILED",
                        "the peer had no receive task for a message, and the retries are"
                                + " exhausted");
        assertThat(pair.second().lines())
                .endsWith("rdma: RUNNING to STOPPING", "rdma: STOPPING to IDLE");
        pair.first().run().enter();
        pair.first().assertFails(1);
    }

    /** The receive is submitted while the message waits for it. */
    @ParameterizedTest
    @CsvSource({
        "rdma-receive,rdma-send",
        "rdma-receive-immediate,rdma-send-immediate",
        "rdma-write-immediate-responder,rdma-write-immediate-requester"
    })
    @Clause({"rdma-255", "rdma-263", "rdma-270"})
    void shouldTransferToAReceiverThatIsLate(String receiver, String sender) {
        Pair pair = new Pair(startPausing("rdma: STARTING to RUNNING", receiver), start(sender));
        pair.copyAll();
        pair.second().run().awaitLine("^" + SUBMITTED);
        pair.first().run().enter();
        pair.assertTransfers();
    }

    /** Its receive was never submitted: the send, which tries without limit, is in flight. */
    @StartsProcesses
    @ParameterizedTest
    @CsvSource({
        "rdma-receive,rdma-send",
        "rdma-receive-immediate,rdma-send-immediate",
        "rdma-write-immediate-responder,rdma-write-immediate-requester"
    })
    @Clause({"rdma-222", "rdma-223", "rdma-236"})
    @Clause("rdma-237")
    void shouldFailWithTheStatusOfTheTaskIfThePeerIsKilled(
            String receiver, String sender, Processes processes) {
        Pair pair =
                new Pair(
                        startPausingProcess(processes, "rdma: STARTING to RUNNING", receiver),
                        start(
                                new ChangedSample(sender) {
                                    @Override
                                    void configure(RdmaProgram program) {
                                        super.configure(program);
                                        program.rdma().setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED);
                                    }
                                }));
        pair.copyAll();
        pair.first().run().awaitLine("^rdma: STARTING to RUNNING");
        pair.second().run().awaitLine("^" + SUBMITTED);
        pair.first().process().kill();
        pair.second()
                .assertFails(
                        1, "CONNECTION_RESET: task of the sample has failed: sample=" + sender);
        pair.second().assertHasStoppedInItsLoop();
        assertThat(pair.second().folder().resolve("local")).doesNotExist();
    }

    @StartsProcesses
    @Test
    @Clause({"rdma-226", "rdma-236"})
    void shouldFailOnTheResponderIfTheRequesterIsKilled(Processes processes) {
        Program responder = start("rdma-read-responder");
        Program requester =
                startPausingProcess(processes, "rdma: STARTING to RUNNING", "rdma-read-requester");
        new Pair(responder, requester).copyAll();
        responder.run().awaitLine("^waiting until");
        requester.run().awaitLine("^rdma: STARTING to RUNNING");
        requester.process().kill();
        responder.assertFails(1, "CONNECTION_RESET");
        assertThat(responder.lines()).endsWith("rdma: STOPPING to IDLE");
    }

    @Test
    @Clause({"rdma-212", "rdma-236", "rdma-237"})
    void shouldFailInTimeIfNothingIsCopied() {
        Program alone = start("rdma-read-requester", "timeout=0.5");
        alone.assertFails(
                1,
                "TIME_OUT: descriptor of the peer is not there: file="
                        + alone.folder().resolve("remote"));
        assertThat(alone.lines()).first().isEqualTo("rdma: IDLE to STARTING");
        assertThat(alone.lines()).last().asString().endsWith("to IDLE");
        assertThat(alone.folder().resolve("local")).doesNotExist();
    }

    @Test
    @Clause("rdma-225")
    void shouldRefuseADescriptorThatIsNone() throws IOException {
        Program program = start("rdma-receive");
        program.run().awaitLine("^waiting");
        Files.writeString(program.folder().resolve("remote"), "no descriptor");
        program.assertFails(1, "INVALID_VALUE");
    }

    /** Only memory needs a file then. */
    @ParameterizedTest
    @CsvSource({
        "rdma-read-responder,rdma-read-requester",
        "rdma-write-immediate-responder,rdma-write-immediate-requester",
        "rdma-receive,rdma-send",
        "rdma-receive-immediate,rdma-send-immediate",
        "rdma-sync-event-responder,rdma-sync-event-requester"
    })
    void shouldConnectByAddressWithoutConnectionDescriptors(String first, String second) {
        Runnable run = () -> connectByAddress(start(first, "use-rdma-cm="), second, "127.3.0.1");
        run.run();
        Sanitized.run(1, run);
    }

    @StartsProcesses
    @ParameterizedTest
    @ValueSource(longs = {0, 1})
    void shouldWriteByAddressWithoutConnectionDescriptors(long seed, Processes processes) {
        Runnable run =
                () ->
                        connectByAddress(
                                startProcess(
                                        processes,
                                        sanitizedProgram(seed),
                                        "rdma-write-responder",
                                        "use-rdma-cm="),
                                "rdma-write-requester",
                                "::ffff:127.3.0.1");
        if (seed == 0) {
            run.run();
        } else {
            Sanitized.run(seed, run);
        }
    }

    private void connectByAddress(Program listening, String second, String address) {
        listening.run().awaitLine("^listening.*address=127.3.0.1, port=13579$");
        Program connecting = start(second, "use-rdma-cm=", "address=" + address, "port=13579");
        if (takesMmap(second)) {
            listening.copyShared(connecting);
        }
        Pair pair = new Pair(listening, connecting);
        pair.assertTransfers();
        assertThat(listening.lines()).contains("requested: address=127.11.0.1");
        for (Program each : List.of(listening, connecting)) {
            assertThat(each.fileLines()).noneMatch(line -> line.contains("connection descriptor"));
        }
        pair.deleteCopies();
    }

    /** The side that is a process, with this seed; without the sanitizer for 0. */
    private static JavaCommand sanitizedProgram(long seed) {
        JavaCommand command = JavaCommand.ofClass(SampleProgram.class);
        return seed == 0 ? command : command.withEnvironment(Sanitizer.ENVIRONMENT, "" + seed);
    }

    @Test
    void shouldListenOnTheGivenPortAndGid() {
        Program receiver = start("rdma-receive", "use-rdma-cm=", "port=7", "gid-index=1");
        String line = receiver.run().awaitLine("^listening.*, port=7$");
        String address = line.replaceFirst(".*address=(.*), port=7", "$1");
        assertThat(address).contains(":");
        Program sender = start("rdma-send", "use-rdma-cm=", "port=7", "address=" + address);
        new Pair(receiver, sender).assertEndWell();
        assertThat(receiver.lines()).contains("received: bytes=13, text=Hi DOCA RDMA!");
    }

    @Test
    void shouldFailIfNothingListensAtTheAddress() {
        Program sender = start("rdma-send", "use-rdma-cm=", "address=127.3.0.1", "port=8");
        sender.assertFails(1, "NOT_FOUND");
        assertThat(sender.lines()).startsWith("rdma: IDLE to STARTING");
    }

    /** Tasks, bufs and memory that were not released would be reported. */
    @ParameterizedTest
    @CsvSource({
        "rdma-read-responder,rdma-read-requester",
        "rdma-write-immediate-responder,rdma-write-immediate-requester",
        "rdma-receive,rdma-send",
        "rdma-receive-immediate,rdma-send-immediate",
        "rdma-sync-event-responder,rdma-sync-event-requester"
    })
    @Clause({"rdma-219", "rdma-221", "rdma-229"})
    @Clause("rdma-237")
    void shouldRunUnderTheSanitizerWithoutAReport(String first, String second) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            Sanitized.run(seed, () -> transfer(startPair(first, second)));
        }
    }

    @StartsProcesses
    @Test
    @Clause({"rdma-219", "rdma-221", "rdma-229"})
    @Clause("rdma-237")
    void shouldWriteUnderTheSanitizerWithoutAReport(Processes processes) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            Program responder =
                    startProcess(processes, sanitizedProgram(seed), "rdma-write-responder");
            Sanitized.run(seed, () -> transfer(new Pair(responder, start("rdma-write-requester"))));
        }
    }

    private static void transfer(Pair pair) {
        pair.copyAll();
        pair.assertTransfers();
        pair.deleteCopies();
    }
}
