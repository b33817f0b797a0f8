package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.LogCapture;
import io.softdpu.testkit.OwnFabric;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.ProcessView;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the sync event samples on threads of this JVM; a host that is killed is a process. */
@ExtendWith(OwnFabric.class)
class SyncEventSamplesTest {
    private static final String DPU = "sync-event-dpu";
    private static final String HOST = "sync-event-host";

    /** CPU time of a wait, in ticks of 10 ms. */
    private static final long SPUN_TICKS = 10;

    /** Sleeps of a thread that sleeps for no wait: of the JVM, for its own work. */
    private static final long FEW_SLEEPS = 100;

    /** Field of CPU time outside of the kernel, behind the name of a thread. */
    private static final int USER_TICKS = 11;

    @AutoClose private final SampleThreads samples = new SampleThreads();

    /** Arguments; an option that is empty is none. */
    private static String[] with(String sample, String... options) {
        List<String> all = new ArrayList<>(List.of(sample));
        Stream.of(options).filter(option -> !option.isEmpty()).forEach(all::add);
        if (sample.equals(DPU)) {
            all.add("rep-pci-addr=0b:00.0");
        }
        return all.toArray(String[]::new);
    }

    /** The DPU's program, which listens. */
    private RunningSample dpu(String... options) {
        RunningSample dpu = samples.start(with(DPU, options));
        dpu.awaitLine("^waiting for sync-event-host$");
        return dpu;
    }

    private static void assertEndsWell(RunningSample sample) {
        assertThat(sample.awaitExit()).as("%s", sample.errorLines()).isZero();
    }

    /** Runs both with these options, the DPU first, and checks their output. */
    private void assertSignals(String... options) {
        RunningSample dpu = dpu(options);
        RunningSample host = samples.start(with(HOST, options));
        assertEndsWell(host);
        assertEndsWell(dpu);
        assertThat(host.outputLines())
                .hasSize(4)
                .containsSubsequence(
                        "connected to sync-event-dpu", "signalled: value=1", "waited: value=2");
        assertThat(host.outputLines().get(1)).matches("exported: bytes=[1-9][0-9]+");
        assertThat(dpu.outputLines())
                .containsExactly(
                        "waiting for sync-event-host", "waited: value=1", "signalled: value=2");
    }

    /** The flags are the only input: no flag names a file to read. */
    @Test
    @Clause("core-283")
    void shouldTakeItsConfigurationFromFlagsOfWhichNoneNamesAFile() {
        for (String name : List.of(DPU, HOST)) {
            assertThat(SampleProgram.find(name).options())
                    .as(name)
                    .extracting(SampleOption::longName)
                    .isSubsetOf(
                            "dev-pci-addr", "rep-pci-addr", "async", "qdepth", "atomic", "timeout");
        }
    }

    @Test
    @Clause({"core-205", "core-214", "core-215"})
    @Clause({"core-217", "core-218"})
    void shouldSignalBySetInSynchronousMode() {
        assertSignals();
    }

    @Test
    @Clause("core-218")
    void shouldSignalByAddInSynchronousMode() {
        assertSignals("atomic=");
    }

    @Test
    @Clause({"core-217", "core-222", "core-223"})
    void shouldSignalBySetInAsynchronousMode() {
        assertSignals("async=");
    }

    @Test
    void shouldSignalByAddInAsynchronousModeWithADepth() {
        assertSignals("async=", "qdepth=8", "atomic=");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "atomic=", "async=", "async= qdepth=1 atomic="})
    void shouldSignalUnderTheSanitizerWithoutAReport(String options, SeededRandom random) {
        for (long seed : new long[] {1, 2, 3, random.between(4, 1_000_000)}) {
            Sanitized.run(seed, () -> assertSignals(options.split(" ")));
        }
    }

    /** The mode is a choice of each side: the value is one and the same. */
    @ParameterizedTest
    @CsvSource({"async=,''", "'',async="})
    @Clause("core-205")
    void shouldSignalBetweenTheTwoModes(String ofDpu, String ofHost) {
        RunningSample dpu = dpu(ofDpu);
        RunningSample host = samples.start(with(HOST, ofHost));
        assertEndsWell(host);
        assertEndsWell(dpu);
        assertThat(host.outputLines()).endsWith("signalled: value=1", "waited: value=2");
        assertThat(dpu.outputLines()).endsWith("waited: value=1", "signalled: value=2");
    }

    // ---- one of the programs, and a test in the place of the other ----

    /** Captures what both ways of using an event tell of their start. */
    private static final class Starts implements AutoCloseable {
        private final LogCapture direct = new LogCapture(DirectSignals.class.getName(), Level.FINE);
        private final LogCapture byJobs = new LogCapture(JobSignals.class.getName(), Level.FINE);

        List<String> told() {
            return Stream.of(direct, byJobs)
                    .flatMap(log -> log.with("event started: ").stream())
                    .map(LogRecord::getMessage)
                    .toList();
        }

        @Override
        public void close() {
            direct.close();
            byJobs.close();
        }
    }

    /**
     * The event has 7 when the DPU gets it, so its answer shows whether it sets or adds. The host's
     * own handle looks at the value.
     */
    @ParameterizedTest
    @CsvSource({
        "'',2,'mode=synchronous, atomic=false'",
        "async=,2,'mode=asynchronous, depth=32, atomic=false'",
        "atomic=,8,'mode=synchronous, atomic=true'",
        "async= qdepth=8 atomic=,8,'mode=asynchronous, depth=8, atomic=true'"
    })
    @Clause({"core-205", "core-211", "core-212"})
    @Clause({"core-213", "core-216", "core-218"})
    void shouldAnswerOnTheDpuByASetUnlessItIsAtomicAndBySynchronousCallsUnlessItIsAsync(
            String options, long answer, String mode) {
        Deadline deadline = Deadline.in(Patience.LIMIT);
        try (Starts starts = new Starts();
                Machine machine = Machine.open(Side.HOST);
                Device function = machine.findDevice("0b:00.0").open();
                ProgressEngine engine = ProgressEngine.create();
                SyncEvent event =
                        SyncEvent.create(function)
                                .addPublisherLocation(SyncEventLocation.CPU)
                                .addSubscriberLocation(SyncEventLocation.DPU);
                ComchClient client = ComchClient.create(function, SyncEventSettings.SERVER)) {
            RunningSample dpu = dpu(options.split(" "));
            MessageChannel channel = new MessageChannel(client, engine, deadline);
            engine.start(client, deadline.remaining());
            event.start();
            event.set(7);
            channel.send(client.connection(), event.exportPci(function));
            event.waitNotEqual(7, SyncEvent.ALL_BITS, deadline.remaining());
            assertThat(event.get()).isEqualTo(answer);
            event.stop();
            ChannelEvents.stop(client, engine, deadline);
            assertEndsWell(dpu);
            assertThat(dpu.outputLines())
                    .containsExactly(
                            "waiting for sync-event-host",
                            "waited: value=7",
                            "signalled: value=" + answer);
            assertThat(starts.told()).containsExactly("event started: " + mode);
        }
    }

    /** The event has -1 when the host signals: 1 more is 0, for which its own wait does not end. */
    @ParameterizedTest
    @CsvSource({
        "'',1,'mode=synchronous, atomic=false'",
        "async=,1,'mode=asynchronous, depth=32, atomic=false'",
        "atomic=,0,'mode=synchronous, atomic=true'",
        "async= qdepth=8 atomic=,0,'mode=asynchronous, depth=8, atomic=true'"
    })
    @Clause({"core-211", "core-212", "core-213"})
    @Clause({"core-220", "core-222", "core-223"})
    void shouldSignalOnTheHostByASetUnlessItIsAtomicAndBySynchronousCallsUnlessItIsAsync(
            String options, long signal, String mode) {
        Deadline deadline = Deadline.in(Patience.LIMIT);
        try (Starts starts = new Starts();
                Machine machine = Machine.open(Side.DPU);
                Device port = machine.findDevice("03:00.0").open();
                Representor function = port.findRepresentor("0b:00.0").open();
                ProgressEngine engine = ProgressEngine.create();
                ComchServer server = ComchServer.create(port, function, SyncEventSettings.SERVER)) {
            boolean[] hostHasLeft = new boolean[1];
            server.setConnectedCallback(_ -> {});
            server.setDisconnectedCallback((_, _) -> hostHasLeft[0] = true);
            MessageChannel channel = new MessageChannel(server, engine, deadline);
            server.start();
            RunningSample host = samples.startPausing("exported", with(HOST, options.split(" ")));
            byte[] export = channel.awaitMessage();
            channel.settle();
            try (SyncEvent event = SyncEvent.createFromExport(export, port)) {
                assertThat(event.publisherLocation()).isEqualTo(SyncEventLocation.CPU);
                assertThat(event.subscriberLocation()).isEqualTo(SyncEventLocation.DPU);
                event.start();
                event.set(-1);
                host.enter();
                event.waitNotEqual(-1, SyncEvent.ALL_BITS, deadline.remaining());
                assertThat(event.get()).isEqualTo(signal);
                assertThat(host.isAlive()).as("waits for the answer").isTrue();
                event.set(2);
                event.stop();
            }
            engine.runUntil(() -> hostHasLeft[0], deadline.remaining(), server);
            ChannelEvents.stop(server, engine, deadline);
            assertEndsWell(host);
            assertThat(host.outputLines())
                    .endsWith("signalled: value=" + signal, "waited: value=2");
            assertThat(starts.told()).containsExactly("event started: " + mode);
        }
    }

    // ---- both programs ----

    /** The host waits for the DPU: one that was started before it gives the signal all the same. */
    @Test
    @Clause({"core-219", "core-221", "core-223"})
    void shouldExportAndSignalOnceTheDpuIsThere() {
        RunningSample dpu = dpu();
        RunningSample host = samples.startPausing("connected", with(HOST));
        host.awaitLine("^connected to sync-event-dpu$");
        assertThat(dpu.outputLines()).containsExactly("waiting for sync-event-host");
        host.enter();
        assertEndsWell(host);
        assertEndsWell(dpu);
        assertThat(host.outputLines()).containsSubsequence("signalled: value=1", "waited: value=2");
        assertThat(host.outputLines().get(1)).startsWith("exported: bytes=");
    }

    /** The DPU waits for the host's signal then, and not for a message. */
    @ParameterizedTest
    @ValueSource(strings = {"", "async="})
    @Clause({"core-217", "core-222"})
    void shouldNotEndAWaitBeforeTheSignal(String mode) {
        RunningSample dpu = dpu(mode);
        RunningSample host = samples.startPausing("exported", with(HOST, mode));
        host.awaitLine("^exported");
        assertThat(dpu.outputLines()).containsExactly("waiting for sync-event-host");
        host.enter();
        assertEndsWell(host);
        assertEndsWell(dpu);
        assertThat(dpu.outputLines()).contains("waited: value=1");
    }

    /** Both waits, one after the other: the side that is to signal is at a pause meanwhile. */
    @ParameterizedTest
    @ValueSource(strings = {"", "async="})
    @Clause({"core-217", "core-223"})
    void shouldPollForTheSignalOfThePeerWithoutAPause(String mode) {
        RunningSample dpu = samples.startPausing("waited", with(DPU, mode));
        dpu.awaitLine("^waiting for sync-event-host$");
        RunningSample host = samples.startPausing("exported", with(HOST, mode));
        host.awaitLine("^exported");
        assertPolls(dpu);
        assertThat(dpu.outputLines()).containsExactly("waiting for sync-event-host");
        host.enter();
        dpu.awaitLine("^waited: value=1$");
        host.awaitLine("^signalled");
        assertPolls(host);
        assertThat(host.outputLines()).noneMatch(line -> line.startsWith("waited"));
        dpu.enter();
        assertEndsWell(host);
        assertEndsWell(dpu);
    }

    /** A thread that slept between two looks would sleep hundreds of times in that CPU time. */
    private static void assertPolls(RunningSample sample) {
        Path thread = SampleThreads.kernelThread(sample);
        long ticks = userTicks(thread);
        long sleeps = sleeps(thread);
        Await.until(
                "use of CPU time",
                () ->
                        userTicks(thread) - ticks >= SPUN_TICKS
                                || sleeps(thread) - sleeps > FEW_SLEEPS);
        assertThat(sleeps(thread) - sleeps).as("sleeps").isLessThanOrEqualTo(FEW_SLEEPS);
    }

    private static long userTicks(Path thread) {
        String stat = ProcessView.text(thread.resolve("stat"));
        // The name is before that, and may have spaces.
        return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[USER_TICKS]);
    }

    private static long sleeps(Path thread) {
        return ProcessView.text(thread.resolve("status"))
                .lines()
                .filter(line -> line.startsWith("voluntary_ctxt_switches:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElseThrow();
    }

    /**
     * The DPU waits for the message with the export, for the signal, or for the end of the host,
     * which is stopped at its line and then killed.
     */
    @StartsProcesses
    @ParameterizedTest
    @CsvSource({
        "connected,''",
        "connected,async=",
        "exported,''",
        "exported,async=",
        "signalled,''"
    })
    void shouldFailOnTheDpuIfTheHostIsKilled(String line, String mode, Processes processes) {
        RunningSample dpu = dpu(mode);
        ChildProcess host =
                processes.start(
                        JavaCommand.ofClass(SampleProgram.class)
                                .withEnvironment(SampleProgram.PAUSE_AFTER, line)
                                .withArguments(with(HOST, mode)));
        host.awaitLine("^" + line);
        host.freeze();
        host.kill();
        assertThat(dpu.awaitExit()).isEqualTo(1);
        // The host may have ended before the DPU looks for the event that it was sent.
        String reason =
                line.equals("exported") ? "CONNECTION_RESET: |NOT_FOUND: " : "CONNECTION_RESET: ";
        assertThat(dpu.errorLines()).anyMatch(Pattern.compile(reason).asPredicate());
    }

    @Test
    @Clause({"core-209", "core-210"})
    void shouldWorkOnTheNamedDevices() {
        RunningSample dpu = samples.start(DPU, "dev-pci-addr=03:00.1", "rep-pci-addr=0b:00.4");
        dpu.awaitLine("^waiting");
        RunningSample other = samples.start(with(HOST, "dev-pci-addr=0b:00.1", "timeout=0.5"));
        assertThat(other.awaitExit()).as("the first function of the port").isEqualTo(1);
        RunningSample host = samples.start(HOST, "dev-pci-addr=0b:00.4");
        assertEndsWell(host);
        assertEndsWell(dpu);
        assertThat(host.outputLines()).endsWith("waited: value=2");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "qdepth=8|only the asynchronous mode has a work queue: option=--qdepth, depth=8",
                "async= qdepth=0|depth of the work queue is illegal: option=--qdepth, depth=0",
                "async= qdepth=many|depth of the work queue is illegal: option=--qdepth,"
                        + " depth=many",
                "async= qdepth=1048577|expected=1 to 1048576"
            })
    @Clause("core-212")
    void shouldRefuseADepthThatIsNone(String options, String reason) {
        RunningSample host = samples.start(with(HOST, options.split(" ")));
        assertThat(host.awaitExit()).isEqualTo(1);
        assertThat(host.errorLines())
                .anyMatch(line -> line.contains("INVALID_VALUE") && line.contains(reason));
    }

    /**
     * Each wait of either has a time limit. The host is a process: it ends with its job in flight,
     * and leaves what it has to the end of the process.
     */
    @StartsProcesses
    @ParameterizedTest
    @ValueSource(strings = {"", "async="})
    void shouldFailInTimeIfThePeerDoesNotAnswer(String mode, Processes processes) {
        RunningSample alone = samples.start(with(DPU, "timeout=0.5"));
        assertThat(alone.awaitExit()).isEqualTo(1);
        assertThat(alone.errorLines()).anyMatch(line -> line.contains("TIME_OUT"));

        Deadline deadline = Deadline.in(Patience.DEADLINE);
        try (Machine machine = Machine.builder(Side.DPU).open();
                Device port = machine.findDevice("03:00.0").open();
                Representor function = port.findRepresentor("0b:00.0").open();
                ProgressEngine engine = ProgressEngine.create();
                ComchServer silent = ComchServer.create(port, function, SyncEventSettings.SERVER)) {
            silent.setConnectedCallback(_ -> {});
            MessageChannel unanswered = new MessageChannel(silent, engine, deadline);
            silent.start();
            ChildProcess host;
            int seconds = 1;
            do { // on a slow machine the time may end before the host has signalled
                seconds *= 2;
                host =
                        processes.start(
                                JavaCommand.ofClass(SampleProgram.class)
                                        .withArguments(with(HOST, mode, "timeout=" + seconds)));
                awaitEnd(host, engine);
                assertThat(host.awaitExit()).isEqualTo(1);
                assertThat(host.errorLines()).anyMatch(line -> line.contains("TIME_OUT"));
            } while (!host.outputLines().contains("signalled: value=1"));
            assertThat(unanswered.awaitMessage()).isNotEmpty();
            ChannelEvents.stop(silent, engine, deadline);
        }
    }

    /** The end of a process is no event of the engine. */
    private static void awaitEnd(ChildProcess process, ProgressEngine engine) {
        Await.until(
                "end of the host",
                () -> {
                    engine.progress();
                    return !process.isAlive();
                });
    }
}
