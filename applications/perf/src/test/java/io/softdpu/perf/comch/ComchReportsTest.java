package io.softdpu.perf.comch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.ContextState;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.Percentiles;
import io.softdpu.perf.pair.PerfReport;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.perf.pair.WarmUp;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reports about one-way messages: host and DPU, each against a scripted peer. */
class ComchReportsTest {
    private static final ComchPair PAIR = ComchPair.of(Topology.builtin());
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    @TempDir Path fabric;

    private final ExecutorService other = Executors.newSingleThreadExecutor();

    @AfterEach
    void endOther() throws InterruptedException {
        other.shutdownNow();
        assertThat(other.awaitTermination(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldReportOnlyWhatTheDpuHasReceivedAndOnlyOnceAllHaveCome() throws Exception {
        ComchPlan plan = ComchPlans.of(ComchMode.RATE).nanos(SECOND).build();
        Future<?> dpu = startDpu(plan);
        try (ScriptedHost host = new ScriptedHost(plan, fabric)) {
            host.connect();
            long sentAt = System.nanoTime() - SECOND;
            host.send(sentAt);
            host.send(0, 0);

            host.ask(5);
            host.until("told how many", () -> !host.heard.isEmpty());
            assertThat(host.heard).containsExactly("received 3");

            long before = System.nanoTime();
            host.send(0, 0);
            PerfReport report = host.awaitReport();
            assertThat(report.operations()).isEqualTo(5);
            assertThat(report.value()).isBetween(before, System.nanoTime());
            assertThat(report.latencies()).isNotNull();
            assertThat(report.latencies().p50Nanos())
                    .isBetween(SECOND, 2 * (System.nanoTime() - sentAt));

            host.ask(5);
            assertThat(host.awaitReport().latencies()).as("since the last report").isNull();
        }
        dpu.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void shouldReportNoLatencyOfMessagesThatHaveNoRoomForTheTime() throws Exception {
        ComchPlan plan = ComchPlans.of(ComchMode.RATE).sizeBytes(7).nanos(SECOND).build();
        Future<?> dpu = startDpu(plan);
        try (ScriptedHost host = new ScriptedHost(plan, fabric)) {
            host.connect();
            host.send(System.nanoTime());

            host.ask(1);

            PerfReport report = host.awaitReport();
            assertThat(report.operations()).isEqualTo(1);
            assertThat(report.latencies()).isNull();
        }
        dpu.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    @StartsProcesses
    void shouldMeasureWhatTheOtherSideHasCountedUntilItHadIt() throws Exception {
        ComchPlan plan = ComchPlans.of(ComchMode.RATE).nanos(SECOND / 20).build();
        Percentiles latencies = new Percentiles(1, 2, 3, 4);
        Future<List<PerfReport>> dpu =
                other.submit(() -> {
                    try (ScriptedDpu opened = new ScriptedDpu(plan, fabric, latencies)) {
                        return opened.run(Integer.MAX_VALUE);
                    }
                });

        PerfRun<ComchFigures> result = measure(plan, Patience.NANOS);

        List<PerfReport> reports = dpu.get(Patience.SECONDS, TimeUnit.SECONDS);
        int last = reports.size() - 1;
        assertThat(reports.size())
                .as("before and after each warm-up and the measurement")
                .isBetween(4, 2 * (WarmUp.MOST_RUNS + 1))
                .isEven();
        assertThat(result.operations())
                .isPositive()
                .isEqualTo(reports.get(last).operations() - reports.get(last - 1).operations());
        assertThat(result.nanos())
                .as("until the moment that the DPU tells")
                .isGreaterThan(ScriptedDpu.LATER_NANOS);
        assertThat(result.latencies()).isEqualTo(latencies);
    }

    @Test
    @StartsProcesses
    void shouldSendTheMessagesOfEachProducerToAConsumerOfItsOwn() throws Exception {
        ComchPlan plan =
                ComchPlans.of(ComchMode.RATE).nanos(SECOND / 20).producers(2).consumers(2).build();
        Future<List<Long>> dpu =
                other.submit(() -> {
                    try (ComchDpu opened = new ComchDpu(plan, PAIR, fabric)) {
                        opened.run();
                        return opened.receivedByConsumer();
                    }
                });

        PerfRun<ComchFigures> result = measure(plan, Patience.NANOS);

        List<Long> received = dpu.get(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(received).hasSize(2).allMatch(count -> count > 0);
        assertThat(result.operations())
                .isEqualTo(result.own().sentByProducer().stream().mapToLong(Long::longValue).sum());
        assertThat(received.get(0) + received.get(1)).isGreaterThan(result.operations());
        for (int i = 0; i < 2; i++) {
            assertThat(received.get(i))
                    .as("of producer %d, warm-up included", i)
                    .isGreaterThanOrEqualTo(result.own().sentByProducer().get(i));
        }
        assertThat(result.latencies()).isNotNull();
    }

    @Test
    @StartsProcesses
    void shouldSayHowManyHadComeWhereTheReportDoesNot() throws Exception {
        ComchPlan plan = ComchPlans.of(ComchMode.RATE).nanos(SECOND / 20).build();
        Future<List<PerfReport>> dpu =
                other.submit(() -> {
                    try (ScriptedDpu opened = new ScriptedDpu(plan, fabric, null)) {
                        return opened.run(1); // the one before the warm-up
                    }
                });

        assertThatThrownBy(() -> measure(plan, 3 * SECOND))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.TIME_OUT))
                .hasMessageMatching(
                        "peer is inactive: peer=DPU process \\d+, awaited=.*, received=7,"
                                + " sent=[1-9]\\d*, waitedMillis=3000, expected=.*"
                                + "--wait event");

        assertThat(dpu.get(Patience.SECONDS, TimeUnit.SECONDS)).hasSize(1);
    }

    private Future<?> startDpu(ComchPlan plan) {
        Callable<Void> run =
                () -> {
                    try (ComchDpu dpu = new ComchDpu(plan, PAIR, fabric)) {
                        dpu.run();
                    }
                    return null;
                };
        return other.submit(run);
    }

    /** The host watches a process: one that does nothing until its input ends. */
    private PerfRun<ComchFigures> measure(ComchPlan plan, long silenceTimeoutNanos)
            throws IOException {
        Process idle = new ProcessBuilder("/bin/sh", "-c", "read line").start();
        try (ComchHost host = new ComchHost(plan, PAIR, fabric, idle, silenceTimeoutNanos)) {
            return host.run().median();
        } finally {
            idle.destroyForcibly();
        }
    }

    private static final class ScriptedHost extends ComchSide {
        private final List<String> heard = new ArrayList<>();
        private boolean isSent;

        ScriptedHost(ComchPlan plan, Path fabric) {
            super(plan, PAIR, fabric, Side.HOST, Patience.NANOS);
        }

        void connect() {
            ComchClient client = ComchClient.create(device, SERVER);
            client.setConnectTimeout(Patience.LIMIT);
            startEndpoint(client);
            until("connected", () -> client.state() == ContextState.RUNNING);
            produce(client.connection());
        }

        void send(long... stamps) {
            for (long stamp : stamps) {
                isSent = false;
                until("sent", () -> isSent || (isSent = trySend(stamp))); // asked again: sent once
            }
        }

        void ask(long messages) {
            heard.clear();
            sendControl(ComchDpu.REPORT + messages);
        }

        PerfReport awaitReport() {
            until("report", () -> !heard.isEmpty() && heard.getLast().startsWith("report: "));
            return PerfReport.parse(heard.getLast()).orElseThrow();
        }

        @Override
        void received(long stamp) {
            throw new AssertionError("nothing is sent back");
        }

        @Override
        void receivedControl(String message) {
            heard.add(message);
        }
    }

    /**
     * Scripted DPU that reports a later arrival than the real one, and from a given report on only
     * 7 messages.
     */
    private static final class ScriptedDpu extends ComchSide {
        static final long LATER_NANOS = 3600 * SECOND;

        private final @Nullable Percentiles latencies;
        private final List<PerfReport> reports = new ArrayList<>();
        private ComchConnection client;
        private long received;
        private long asked = -1;

        ScriptedDpu(ComchPlan plan, Path fabric, @Nullable Percentiles latencies) {
            super(plan, PAIR, fabric, Side.DPU, Patience.NANOS);
            this.latencies = latencies;
        }

        List<PerfReport> run(int reportsToMake) {
            ComchServer server =
                    ComchServer.create(device, keep(device.findRepresentor("hpf0").open()), SERVER);
            server.setConnectedCallback(arrived -> client = arrived);
            startEndpoint(server);
            until("host connects", () -> client != null);
            receive(client);
            while (isConnected()) {
                turn();
                if (asked >= 0 && reports.size() == reportsToMake) {
                    asked = -1;
                    sendControl(ComchDpu.SO_FAR + 7);
                }
                if (received == asked) {
                    asked = -1;
                    long later = System.nanoTime() + LATER_NANOS;
                    reports.add(new PerfReport(received, later, latencies, ResourceUse.now()));
                    sendControl(reports.getLast().toString());
                }
            }
            return reports;
        }

        @Override
        void received(long stamp) {
            received++;
        }

        @Override
        void receivedControl(String message) {
            asked = Long.parseLong(message.substring(ComchDpu.REPORT.length()));
        }
    }
}
