package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.PciFunctionBuilder;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaRemoteSyncEventGetTask;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.testkit.Clause;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of the steps of the RDMA samples: the rights that they grant, what they hold when they run,
 * what they find wrong in the data of a peer, and what they leave after a failure.
 */
class RdmaSampleStepsTest extends RdmaSamplesFixture {
    private static final PrintStream NOWHERE = new PrintStream(OutputStream.nullOutputStream());

    // ---- configuration ----

    /**
     * Configuration of a sample when its context is about to start.
     *
     * @param memory the rights of its mmap
     * @param instance the rights of peers through its instance
     * @param gidIndex of its instance
     * @param freeBufs of its inventory, which has two, after one was taken and released
     */
    private record Configuration(
            Permissions memory, Permissions instance, int gidIndex, int freeBufs) {}

    /** Configures a sample, and ends it before the start, since it needs no peer so far. */
    private Configuration configured(String name, Topology card, String... options) {
        List<Configuration> seen = new ArrayList<>();
        RuntimeException enough = new IllegalStateException("it is configured");
        RdmaSample sample =
                new ChangedSample(name) {
                    @Override
                    void configure(RdmaProgram program) {
                        super.configure(program);
                        // Only an inventory that is started has bufs.
                        program.inventory().bufByAddress(program.mmap(), 0, 1).release();
                        seen.add(
                                new Configuration(
                                        program.mmap().permissions(),
                                        program.rdma().permissions(),
                                        program.rdma().gidIndex(),
                                        program.inventory().free()));
                        throw enough;
                    }
                };
        SampleSettings given = SampleProgram.settings(arguments(name, ownFolder(name), options));
        assertThatThrownBy(() -> sample.run(new SampleSettings(card, given.values()), NOWHERE))
                .isSameAs(enough)
                .hasNoSuppressedExceptions();
        return seen.getFirst();
    }

    private static Permissions permissions(String flags) {
        return Permissions.of(
                Stream.of(flags.split(" ")).map(AccessFlag::valueOf).toArray(AccessFlag[]::new));
    }

    /** No peer has a right, neither by the memory nor by the instance. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "rdma-read-requester",
                "rdma-write-requester",
                "rdma-write-immediate-requester",
                "rdma-sync-event-requester"
            })
    @Clause({"rdma-239", "rdma-245", "rdma-251"})
    @Clause({"rdma-206", "rdma-214", "rdma-234"})
    void shouldGrantPeersNothingOnTheSideThatUsesTheirMemory(String name) {
        assertThat(configured(name, Topology.builtin(), "gid-index=1"))
                .isEqualTo(
                        new Configuration(
                                Permissions.LOCAL_READ_WRITE, Permissions.LOCAL_READ_ONLY, 1, 2));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rdma-send",
                "rdma-receive",
                "rdma-send-immediate",
                "rdma-receive-immediate"
            })
    @Clause({"rdma-260", "rdma-262"})
    @Clause({"rdma-267", "rdma-269"})
    void shouldGrantPeersNothingToSendAndReceive(String name) {
        assertThat(configured(name, Topology.builtin()))
                .isEqualTo(
                        new Configuration(
                                Permissions.LOCAL_READ_WRITE, Permissions.LOCAL_READ_ONLY, 0, 2));
    }

    /** The memory and the instance permit the operation, and no other one. */
    @ParameterizedTest
    @CsvSource({
        "rdma-read-responder,LOCAL_READ_WRITE RDMA_READ,RDMA_READ",
        "rdma-write-responder,LOCAL_READ_WRITE RDMA_WRITE,RDMA_WRITE",
        "rdma-write-immediate-responder,LOCAL_READ_WRITE RDMA_WRITE,RDMA_WRITE",
        "rdma-sync-event-responder,LOCAL_READ_WRITE,RDMA_READ RDMA_WRITE"
    })
    @Clause({"rdma-241", "rdma-247", "rdma-253"})
    @Clause({"rdma-206", "rdma-214", "rdma-215"})
    void shouldGrantPeersTheRightOfTheOperationAlone(String name, String memory, String instance) {
        assertThat(configured(name, Topology.builtin(), "gid-index=1"))
                .isEqualTo(new Configuration(permissions(memory), permissions(instance), 1, 2));
    }

    /** The card has one task of each of these types, and none of the others. */
    @ParameterizedTest
    @CsvSource({
        "rdma-read-requester,READ",
        "rdma-read-responder,''",
        "rdma-write-requester,WRITE",
        "rdma-write-responder,''",
        "rdma-write-immediate-requester,WRITE_IMMEDIATE",
        "rdma-write-immediate-responder,RECEIVE",
        "rdma-send,SEND",
        "rdma-receive,RECEIVE",
        "rdma-send-immediate,SEND_IMMEDIATE",
        "rdma-receive-immediate,RECEIVE",
        "rdma-sync-event-requester,REMOTE_SYNC_EVENT_NOTIFY_SET REMOTE_SYNC_EVENT_GET",
        "rdma-sync-event-responder,''"
    })
    @Clause({"rdma-213", "rdma-216", "rdma-242"})
    @Clause({"rdma-248", "rdma-275"})
    void shouldConfigureTheTasksThatItSubmitsAndNeedADeviceWithThese(String name, String types) {
        List<RdmaTaskType> needed =
                types.isEmpty()
                        ? List.of()
                        : Stream.of(types.split(" ")).map(RdmaTaskType::valueOf).toList();
        configured(name, cardWith(needed));
        for (RdmaTaskType type : needed) {
            List<RdmaTaskType> others = new ArrayList<>(needed);
            others.remove(type);
            SampleSettings settings =
                    new SampleSettings(
                            cardWith(others),
                            SampleProgram.settings(arguments(name, ownFolder(name))).values());
            assertThatThrownBy(() -> SampleProgram.find(name).run(settings, NOWHERE))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.NOT_FOUND))
                    .hasMessageContaining("topology lacks a device for this sample");
        }
    }

    private static Topology cardWith(List<RdmaTaskType> types) {
        Topology.Builder card = Topology.builder("one task of each of " + types.size() + " types");
        for (PciFunction function : Topology.builtin().functions()) {
            PciFunctionBuilder limited = function.toBuilder();
            for (RdmaTaskType type : RdmaTaskType.values()) {
                limited.limit(RdmaCapabilities.tasksLimit(type).id(), types.contains(type) ? 1 : 0);
            }
            card.add(limited.build());
        }
        return card.build();
    }

    // ---- what a sample does when it runs ----

    /** Each names its peer where it waits for a descriptor of it. */
    @ParameterizedTest
    @CsvSource({
        "rdma-read-responder,rdma-read-requester",
        "rdma-receive,rdma-send",
        "rdma-sync-event-responder,rdma-sync-event-requester"
    })
    @Clause("rdma-224")
    void shouldExportAndConnectInsideTheCallbackForChangesOfState(String first, String second) {
        List<Boolean> inCallback = Collections.synchronizedList(new ArrayList<>());
        run(new NamingSample(first, inCallback), new NamingSample(second, inCallback));
        assertThat(inCallback).hasSizeGreaterThanOrEqualTo(2).containsOnly(true);
    }

    private static final class NamingSample extends ChangedSample {
        private final List<Boolean> inCallback;

        NamingSample(String name, List<Boolean> inCallback) {
            super(name);
            this.inCallback = inCallback;
        }

        @Override
        String peer() {
            inCallback.add(isInStateCallback());
            return super.peer();
        }
    }

    private static boolean isInStateCallback() {
        return StackWalker.getInstance()
                .walk(frames ->
                        frames.anyMatch(frame -> frame.getMethodName().equals("stateChanged")));
    }

    /** Tells in its output what it holds when its step for RUNNING begins and ends. */
    private static final class TellingSample extends ChangedSample {
        TellingSample(String name) {
            super(name);
        }

        @Override
        void running(RdmaProgram program) {
            program.print(held("begins", program));
            int opened = openedWhenItRuns(program);
            program.print(held("ends", program) + ", opened=" + opened);
        }

        private static String held(String when, RdmaProgram program) {
            return Text.format(
                    "%s: state=%s, inCallback=%s, freeBufs=%d, inFlightTasks=%d, exported=%s",
                    when,
                    program.rdma().state(),
                    isInStateCallback(),
                    program.inventory().free(),
                    program.rdma().inFlightTasks(),
                    program.mmap().isExported());
        }
    }

    /** Nothing was taken before. */
    private static String begins(boolean isExported) {
        return held("begins", 2, 0, isExported);
    }

    private static String ends(int freeBufs, int inFlightTasks, boolean isExported) {
        return held("ends", freeBufs, inFlightTasks, isExported) + ", opened=0";
    }

    /** As {@link #ends}, of a sample that has imported memory or an event of its peer. */
    private static String endsWithImport(int freeBufs, int inFlightTasks) {
        return held("ends", freeBufs, inFlightTasks, false) + ", opened=1";
    }

    private static String held(String when, int freeBufs, int inFlightTasks, boolean isExported) {
        return Text.format(
                "%s: state=RUNNING, inCallback=true, freeBufs=%d, inFlightTasks=%d, exported=%s",
                when, freeBufs, inFlightTasks, isExported);
    }

    /** Both tell; they end well. */
    private Pair told(String first, String second) {
        return run(new TellingSample(first), new TellingSample(second));
    }

    private Pair run(RdmaSample first, RdmaSample second) {
        Pair pair = new Pair(start(first), start(second));
        pair.copyAll();
        pair.assertEndWell();
        return pair;
    }

    @Test
    @Clause({"rdma-226", "rdma-228", "rdma-230"})
    @Clause({"rdma-238", "rdma-240", "rdma-242"})
    void shouldSubmitTheReadWhenItRunsAndPrintWhenItHasEnded() {
        Pair pair = told("rdma-read-responder", "rdma-read-requester");
        assertThat(pair.second().lines())
                .isEqualTo(
                        statesAround(
                                begins(false),
                                SUBMITTED,
                                endsWithImport(0, 1),
                                "read: bytes=13, text=Hi DOCA RDMA!"));
        assertThat(pair.first().lines())
                .isEqualTo(
                        statesAround(
                                begins(true),
                                "waiting until rdma-read-requester disconnects",
                                ends(2, 0, true)));
    }

    @Test
    @Clause({"rdma-228", "rdma-230", "rdma-250"})
    @Clause({"rdma-252", "rdma-254", "rdma-257"})
    void shouldSubmitTheWriteWithImmediateWhenItRunsAndPrintWhenItHasEnded() {
        Pair pair = told("rdma-write-immediate-responder", "rdma-write-immediate-requester");
        assertThat(pair.second().lines())
                .isEqualTo(
                        statesAround(
                                begins(false),
                                SUBMITTED,
                                endsWithImport(0, 1),
                                "written: bytes=13, " + VALUE + ", text=Hi DOCA RDMA!"));
        assertThat(pair.first().lines())
                .isEqualTo(
                        statesAround(
                                begins(true),
                                SUBMITTED,
                                "waiting for the write of rdma-write-immediate-requester",
                                ends(2, 1, true),
                                "written by the peer: bytes=13, "
                                        + VALUE
                                        + ", text=Hi DOCA RDMA!"));
    }

    @ParameterizedTest
    @CsvSource({"'',''", "-immediate,'immediate=0x12345678, '"})
    @Clause({"rdma-259", "rdma-261", "rdma-265"})
    @Clause({"rdma-266", "rdma-268", "rdma-273"})
    void shouldPrintWhileItPreparesTheSendAndSubmitItWhenItRuns(String kind, String value) {
        Pair pair = told("rdma-receive" + kind, "rdma-send" + kind);
        String transferred = "bytes=13, " + value + "text=Hi DOCA RDMA!";
        assertThat(pair.second().lines())
                .isEqualTo(
                        statesAround(
                                begins(false),
                                "sending: " + transferred,
                                SUBMITTED,
                                ends(1, 1, false)));
        assertThat(pair.first().lines())
                .isEqualTo(
                        statesAround(
                                begins(false),
                                SUBMITTED,
                                "waiting for the message of rdma-send" + kind,
                                ends(1, 1, false),
                                "received: " + transferred));
    }

    @Test
    @Clause({"rdma-228", "rdma-229", "rdma-230"})
    @Clause({"rdma-274", "rdma-280"})
    void shouldSubmitTheFirstSignalWhenItRunsAndWaitForTheOthers() {
        Pair pair = told("rdma-sync-event-responder", "rdma-sync-event-requester");
        assertThat(pair.second().lines())
                .containsSubsequence(
                        begins(false),
                        "signalling the remote sync event: " + SIGNAL,
                        "submitted: remainingTasks=3",
                        endsWithImport(1, 1),
                        "signalled, waiting for the signal of rdma-sync-event-responder");
        assertThat(pair.first().lines())
                .containsSubsequence(
                        begins(false),
                        "waiting for the signal of rdma-sync-event-requester",
                        ends(2, 0, false),
                        "signalled by the peer: " + SIGNAL);
    }

    /** The data is that of the task when it ends, and not only in what is printed. */
    @Test
    @Clause("rdma-229")
    void shouldGiveATaskTheNumberOfRemainingTasksAsItsUserData() {
        List<Long> ofSend = Collections.synchronizedList(new ArrayList<>());
        RdmaSample sender =
                new ChangedSample("rdma-send") {
                    @Override
                    void configure(RdmaProgram program) {
                        super.configure(program);
                        program.rdma()
                                .setSendTasks(
                                        RdmaProgram.TASKS,
                                        task -> {
                                            ofSend.add(task.userData());
                                            program.succeeded(task, () -> {}, task.source());
                                        },
                                        task -> program.failed(task, task.source()));
                    }
                };
        run(new ChangedSample("rdma-receive"), sender);
        assertThat(ofSend).containsExactly(1L);

        List<Long> ofFirstSet = Collections.synchronizedList(new ArrayList<>());
        RdmaSample requester =
                new ChangedSample("rdma-sync-event-requester") {
                    @Override
                    void configure(RdmaProgram program) {
                        super.configure(program);
                        program.rdma()
                                .setRemoteSyncEventNotifySetTasks(
                                        RdmaProgram.TASKS,
                                        task -> {
                                            ofFirstSet.add(task.userData());
                                            program.succeeded(task, () -> {}, task.source());
                                            program.endWithPeer();
                                        },
                                        task -> program.failed(task, task.source()));
                    }
                };
        Pair pair = new Pair(start("rdma-sync-event-responder"), start(requester));
        pair.copyAll();
        pair.second().assertEndsWell();
        assertThat(ofFirstSet).containsExactly(3L);
        pair.first().assertFails(1, "has ended without completion");
    }

    /** Exports memory that a peer may write, and looks at it when the peer has gone. */
    private static final class WritableSample extends ChangedSample {
        private final List<String> found = Collections.synchronizedList(new ArrayList<>());

        WritableSample() {
            super("rdma-read-responder");
        }

        @Override
        Permissions memoryPermissions() {
            return Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_WRITE);
        }

        @Override
        void configure(RdmaProgram program) {
            super.configure(program);
            program.rdma().setPermissions(Permissions.of(AccessFlag.RDMA_WRITE));
        }

        @Override
        void disconnected(RdmaProgram program) {
            found.add(RdmaText.verified(program.memory()).text());
            super.disconnected(program);
        }
    }

    /** The memory has a longer text before, of which nothing may be left but what is behind. */
    @ParameterizedTest
    @CsvSource({"'',Hi DOCA RDMA!", "write-string=Grüße,Grüße"})
    @Clause({"rdma-209", "rdma-244", "rdma-246"})
    @Clause({"rdma-228", "rdma-230"})
    void shouldWriteTheGivenStringOrTheDefaultWithItsEnd(String option, String text) {
        WritableSample responder = new WritableSample();
        Program first = start(responder, "read-string=" + "before ".repeat(8));
        Program second =
                start(
                        new TellingSample("rdma-write-requester"),
                        option.isEmpty() ? new String[0] : new String[] {option});
        Pair pair = new Pair(first, second);
        pair.copyAll();
        pair.assertEndWell();
        assertThat(responder.found).containsExactly(text);
        assertThat(second.lines())
                .isEqualTo(
                        statesAround(
                                begins(false),
                                SUBMITTED,
                                endsWithImport(0, 1),
                                new RdmaText(text).line("written")));
    }

    /** An mmap is made of it when the context runs, and not before. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "rdma-read-requester",
                "rdma-write-requester",
                "rdma-write-immediate-requester",
                "rdma-sync-event-requester"
            })
    @Clause({"rdma-227", "rdma-237", "rdma-274"})
    void shouldFindWhenItRunsThatTheDescriptorIsNone(String requester) throws IOException {
        Program responder = start("rdma-read-responder");
        Program program = start(requester);
        responder.copyConnection(program);
        program.copyConnection(responder);
        Files.writeString(program.folder().resolve("memory"), "no descriptor");
        program.assertFails(1, "INVALID_VALUE");
        assertThat(program.lines()).isEqualTo(statesAround());
        responder.assertEndsWell();
    }

    // ---- a wrong peer ----

    /** The ways in which a peer may be wrong. */
    private enum Mistake {
        /** The text has no byte 0 at its end. */
        NO_END,
        /** The immediate value is another. */
        VALUE,
        /** There is no data. */
        NO_DATA
    }

    /** A sender or writer with a mistake. */
    private static final class WrongSample extends ChangedSample {
        private static final int OTHER_VALUE = 0x78563412;

        private final Mistake mistake;

        WrongSample(String name, Mistake mistake) {
            super(name);
            this.mistake = mistake;
        }

        @Override
        void running(RdmaProgram program) {
            RdmaText text = new RdmaText(RdmaText.DEFAULT);
            int bytes = mistake == Mistake.NO_END ? text.sizeBytes() : text.transferBytes();
            int value = mistake == Mistake.VALUE ? OTHER_VALUE : RdmaText.IMMEDIATE;
            Buf source =
                    mistake == Mistake.NO_DATA
                            ? null
                            : program.inventory().bufByData(program.mmap(), 0, bytes);
            Rdma rdma = program.rdma();
            switch (name()) {
                case "rdma-send" ->
                        program.submit(rdma.allocateSend(program.connection(), source), source);
                case "rdma-send-immediate" ->
                        program.submit(
                                rdma.allocateSendImmediate(program.connection(), source, value),
                                source);
                default -> {
                    Buf destination =
                            program.inventory().bufByAddress(program.importMemory(), 0, bytes);
                    program.submit(
                            rdma.allocateWriteImmediate(
                                    program.connection(), source, destination, value),
                            source,
                            destination);
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rdma-receive|rdma-send|NO_END"
                        + "|memory holds no text of the peer: bytes=13, textBytes=13",
                "rdma-receive-immediate|rdma-send-immediate|NO_END"
                        + "|memory holds no text of the peer: bytes=13, textBytes=13",
                "rdma-receive-immediate|rdma-send-immediate|VALUE"
                        + "|immediate value of the peer is wrong: immediate=0x78563412",
                "rdma-write-immediate-responder|rdma-write-immediate-requester|NO_END"
                        + "|memory holds no text of the peer: bytes=13, textBytes=13",
                "rdma-write-immediate-responder|rdma-write-immediate-requester|VALUE"
                        + "|immediate value of the peer is wrong: immediate=0x78563412",
                "rdma-write-immediate-responder|rdma-send|NO_DATA"
                        + "|operation of the peer is another: opcode=SEND,"
                        + " expected=WRITE_IMMEDIATE",
                "rdma-write-immediate-responder|rdma-send-immediate|NO_DATA"
                        + "|operation of the peer is another: opcode=SEND_IMMEDIATE,"
                        + " expected=WRITE_IMMEDIATE"
            })
    @Clause({"rdma-217", "rdma-220", "rdma-256"})
    @Clause({"rdma-257", "rdma-264", "rdma-272"})
    void shouldFailForTheMistakeOfThePeerAndPrintNoData(
            String name, String peer, Mistake mistake, String reason) {
        Pair pair = new Pair(start(name), start(new WrongSample(peer, mistake)));
        pair.copyAll();
        pair.second().assertEndsWell();
        pair.first().assertFails(3, reason);
        pair.first().assertHasStoppedInItsLoop();
        assertThat(pair.first().lines()).noneMatch(line -> line.contains("text="));
    }

    @Test
    @Clause({"rdma-217", "rdma-220", "rdma-240"})
    void shouldFailIfThereIsNoTextToReadAndPrintNoData() {
        RdmaSample responder =
                new ChangedSample("rdma-read-responder") {
                    @Override
                    void configure(RdmaProgram program) {
                        super.configure(program);
                        program.memory().fill((byte) 0);
                    }
                };
        Pair pair = new Pair(start(responder), start("rdma-read-requester"));
        pair.copyAll();
        pair.second().assertFails(3, "memory holds no text of the peer: bytes=257, textBytes=0");
        assertThat(pair.second().lines()).noneMatch(line -> line.contains("text="));
        pair.first().assertEndsWell();
    }

    /** It answers the signal by a value of its own. */
    @Test
    @Clause({"rdma-217", "rdma-220", "rdma-277"})
    void shouldFailForAnotherAnswerThanTheResponders() {
        RdmaSample responder =
                new ChangedSample("rdma-sync-event-responder") {
                    @Override
                    void configure(RdmaProgram program) {
                        program.rdma()
                                .setPermissions(
                                        Permissions.of(
                                                AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE));
                        program.createEvent()
                                .setWaitGreaterTasks(
                                        1,
                                        task -> {
                                            task.free();
                                            program.submitQuietly(program.event().allocateSet(7));
                                        },
                                        Task::free)
                                .setSetTasks(1, Task::free, Task::free);
                    }

                    @Override
                    void disconnected(RdmaProgram program) {
                        program.endWithPeer();
                    }
                };
        Pair pair = new Pair(start(responder), start("rdma-sync-event-requester"));
        pair.copyAll();
        pair.second()
                .assertFails(3, "value of the sync event is wrong: value=0x7, expected=0xd0cb");
        assertThat(pair.second().lines()).noneMatch(line -> line.startsWith("announcing"));
        pair.first().assertEndsWell();
    }

    /** Signals with a value of its own. */
    private static final class WrongSignals extends ChangedSample {
        private static final long OTHER = RdmaSignals.ANSWER + 1;
        private static final long GET_OFFSET = Long.BYTES;
        private static final int FIRST = 2;

        /** Not the last, of 1: it goes on until the responder has ended. */
        private static final int SECOND = 3;

        private final long first;

        /** The first signal; the other value is the last one in any case. */
        WrongSignals(long first) {
            super("rdma-sync-event-requester");
            this.first = first;
        }

        @Override
        void configure(RdmaProgram program) {
            program.rdma()
                    .setRemoteSyncEventNotifySetTasks(
                            1,
                            task ->
                                    program.succeeded(
                                            task,
                                            () -> {
                                                if (task.userData() == FIRST) {
                                                    get(program, task.event());
                                                }
                                            },
                                            task.source()),
                            task -> program.failed(task, task.source()))
                    .setRemoteSyncEventGetTasks(
                            1,
                            task -> hasRead(program, task),
                            task -> program.failed(task, task.destination()));
        }

        @Override
        void running(RdmaProgram program) {
            set(program, program.importEvent(), first, FIRST);
        }

        private static void set(
                RdmaProgram program, RemoteSyncEvent event, long value, int remaining) {
            program.memory().set(ValueLayout.JAVA_LONG, 0, value);
            Buf source = program.inventory().bufByData(program.mmap(), 0, Long.BYTES);
            program.submit(
                    program.rdma()
                            .allocateRemoteSyncEventNotifySet(program.connection(), event, source),
                    remaining,
                    source);
        }

        private static void get(RdmaProgram program, RemoteSyncEvent event) {
            Buf destination =
                    program.inventory().bufByAddress(program.mmap(), GET_OFFSET, Long.BYTES);
            program.submit(
                    program.rdma()
                            .allocateRemoteSyncEventGet(program.connection(), event, destination),
                    FIRST,
                    destination);
        }

        private void hasRead(RdmaProgram program, RdmaRemoteSyncEventGetTask task) {
            Buf destination = task.destination();
            if (program.memory().get(ValueLayout.JAVA_LONG, GET_OFFSET) == first) {
                destination.resetDataLength();
                program.attempt(() -> program.submitQuietly(task, destination));
                return;
            }
            program.succeeded(task, () -> set(program, task.event(), OTHER, SECOND), destination);
        }
    }

    /** A wrong signal in place of the first, and after a right one in place of the completion. */
    @ParameterizedTest
    @CsvSource({
        "5,'value=0x5, expected=0xd0ca',0",
        "0xD0CA,'value=0xd0cc, expected=0xffffffffffffffff',1"
    })
    @Clause({"rdma-280", "rdma-282"})
    void shouldFailForAnotherSignalThanTheRequesters(long first, String reason, int answers) {
        Pair pair = new Pair(start("rdma-sync-event-responder"), start(new WrongSignals(first)));
        pair.copyAll();
        pair.first().assertFails(3, "value of the sync event is wrong: " + reason);
        assertThat(pair.first().lines().stream().filter(line -> line.startsWith("signalling")))
                .hasSize(answers);
        pair.second().run().awaitExit();
    }

    // ---- after a failure ----

    /** The mmap of the peer's memory is there then, and has to be closed as all else. */
    @ParameterizedTest
    @CsvSource({
        "rdma-read-responder,rdma-write-requester",
        "rdma-read-responder,rdma-write-immediate-requester",
        "rdma-write-immediate-responder,rdma-read-requester"
    })
    @Clause({"rdma-222", "rdma-223", "rdma-237"})
    @Clause({"rdma-241", "rdma-253", "rdma-236"})
    void shouldLeaveNothingAndPrintNoDataWithoutThePermissionOfThePeer(
            String responder, String requester) {
        Pair pair = startPair(responder, requester);
        pair.copyAll();
        pair.second().assertFails(1, "NOT_PERMITTED");
        pair.second().assertHasStoppedInItsLoop();
        assertThat(pair.second().lines()).noneMatch(line -> line.contains("text="));
        pair.first().run().awaitExit();
        for (String file : List.of("local", "memory")) {
            assertThat(pair.first().folder().resolve(file)).doesNotExist();
        }
        assertThat(pair.second().folder().resolve("local")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rdma-read-requester",
                "rdma-write-requester",
                "rdma-write-immediate-requester"
            })
    @Clause({"rdma-227", "rdma-237"})
    void shouldRefuseMemoryThatIsTooSmallAndLeaveNothing(String requester) throws IOException {
        Permissions permissions =
                Permissions.of(
                        AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE);
        try (Machine machine = Machine.open(Side.DPU);
                Device device = machine.findDevice("p0").open();
                SharedMemory memory = SharedMemory.allocate(16);
                Mmap mmap =
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(permissions)
                                .addDevice(device)
                                .start()) {
            Program responder = start("rdma-read-responder");
            Program program = start(requester);
            responder.copyConnection(program);
            program.copyConnection(responder);
            Files.write(program.folder().resolve("memory"), mmap.exportRdma(device));
            program.assertFails(
                    3, "memory of the peer is too small: bytes=16, expected=257 or more");
            assertThat(program.lines()).isEqualTo(statesAround());
            responder.assertEndsWell();
        }
    }
}
