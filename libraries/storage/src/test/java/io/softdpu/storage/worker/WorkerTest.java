package io.softdpu.storage.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.linux.Affinity;
import io.softdpu.rdma.Rdma;
import io.softdpu.storage.Pipeline;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.ProcessView;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands and data path of a worker. */
class WorkerTest extends WorkerFixture {
    @Test
    @Clause({"sto-095", "sto-110", "sto-113"})
    void shouldCarryOutCommandsBeforeAndAfterTheDataPath() {
        start(Patience.NANOS);
        Thread[] where = new Thread[1];
        worker.execute(() -> {
            where[0] = Thread.currentThread();
            events.add("command");
        });
        assertThat(where[0].getName()).isEqualTo("softdpu-3-test");
        assertThat(worker.query(() -> 42)).isEqualTo(42);

        worker.startDataPath();
        Pipeline.await(worker.rounds);
        worker.stopDataPath();
        Await.until("data path has ended", worker::hasDataPathEnded);
        worker.execute(() -> events.add("afterwards"));
        worker.beginEnd();
        Await.until("worker has ended", worker::hasEnded);

        assertThat(events).containsExactly("command", "begin", "round", "afterwards", "release");
        assertThat(worker.failure()).isNull();
        assertThat(worker.report().index()).isEqualTo(3);
        assertThat(worker.report().operations()).isPositive();
        assertThat(notified.get()).isPositive();
    }

    @Test
    @Clause("sto-098")
    void shouldLeaveItsProcessorToOthersWhileThereIsNoCommand() throws Exception {
        CpuBinding processor = CpuBinding.hard(Affinity.allowed().length() - 1);
        worker = new TestWorker(Patience.NANOS, processor);
        worker.start();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long id = worker.query(() -> Thread.currentThread().threadId());
        long busyNanos = TimeUnit.MILLISECONDS.toNanos(300);
        long before = threads.getThreadCpuTime(id);

        FutureTask<Boolean> busy =
                new FutureTask<>(() -> {
                    processor.bindCurrentThread();
                    long begin = threads.getCurrentThreadCpuTime();
                    while (threads.getCurrentThreadCpuTime() - begin < busyNanos) {
                        Thread.onSpinWait();
                    }
                    return true;
                });
        Thread.ofPlatform().daemon().start(busy);
        busy.get(Patience.SECONDS, TimeUnit.SECONDS);

        // A thread that polled would have had half of the processor.
        assertThat(threads.getThreadCpuTime(id) - before).isLessThan(busyNanos / 5);
    }

    @Test
    @Clause("sto-098")
    void shouldGiveItsProcessorAwayBetweenTwoCommands() {
        start(Patience.NANOS);
        Path thread = Path.of("/proc", worker.query(WorkerTest::currentThread), "status");
        for (int command = 0; command < 3; command++) {
            Await.until(
                    "worker sleeps",
                    () -> ProcessView.text(thread).contains("State:\tS (sleeping)"));
            assertThat(worker.query(() -> 42)).isEqualTo(42);
        }
    }

    /** Process and thread, as a path below /proc. */
    private static String currentThread() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/thread-self")).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @Clause({"sto-114", "sto-117"})
    void shouldGoOnUntilNothingIsInFlight() {
        start(Patience.NANOS);
        worker.woken = true;
        worker.inFlight = 2;
        worker.startDataPath();
        Pipeline.await(worker.rounds);
        worker.stopDataPath();
        worker.rounds = new CountDownLatch(100);
        Pipeline.await(worker.rounds);
        assertThat(worker.hasDataPathEnded()).isFalse();

        worker.inFlight = 0;

        Await.until("data path has ended", worker::hasDataPathEnded);
        assertThat(worker.failure()).isNull();
    }

    @Test
    @Clause("sto-117")
    void shouldGiveUpWhatStaysInFlight() {
        startImpatient();
        worker.inFlight = 7;
        worker.startDataPath();
        Pipeline.await(worker.rounds);

        worker.stopDataPath();

        Await.until("data path has ended", worker::hasDataPathEnded);
        assertThat(worker.failure().status()).isEqualTo(Status.TIME_OUT);
        assertThat(worker.failure()).hasMessageContaining("worker=3, inFlight=7");
    }

    /** The refusals of a context say whose engine it has. */
    @Test
    void shouldDriveAllItsContextsByTheEngineOfItsThread(@TempDir Path folder) {
        start(Patience.NANOS);
        try (Machine machine = Machine.builder(Side.DPU).fabricFolder(folder).open();
                Device device = machine.findDevice("p0").open()) {
            List<Rdma> contexts = worker.query(() -> worker.connectedTo(device));

            Await.until("contexts run", () -> worker.query(worker::areContextsReady));

            for (Rdma context : contexts) {
                DpuException refusal = catchThrowableOfType(DpuException.class, context::stop);
                assertThat(refusal.status()).isEqualTo(Status.NOT_PERMITTED);
                assertThat(refusal).hasMessageContaining("engineThread=softdpu-3-test");
            }
            worker.beginEnd();
            Await.until("worker has ended", worker::hasEnded);
            assertThat(worker.failure()).isNull();
        }
    }

    @Test
    void shouldOfferAgainWhatWasRefusedAfterEachEvent() {
        start(Patience.NANOS);
        worker.refused = true;
        worker.startDataPath();

        Await.until(
                "all has been offered again",
                () -> {
                    worker.wakeUp();
                    return worker.retries.getCount() == 0;
                });
        worker.refused = false;
    }

    @Test
    @Clause("sto-116")
    void shouldCountWhatFoundNoWorkAsMisses() {
        start(Patience.NANOS);
        worker.woken = true;

        assertThat(missesOf(50)).isGreaterThanOrEqualTo(50);

        assertThat(worker.report().progressHits()).isZero();
    }

    private long missesOf(int rounds) {
        worker.rounds = new CountDownLatch(rounds);
        worker.startDataPath();
        Pipeline.await(worker.rounds);
        worker.stopDataPath();
        Await.until("data path has ended", worker::hasDataPathEnded);
        return worker.report().progressMisses();
    }

    @Test
    void shouldNotWaitForWhatIsInFlightWhenTheSessionIsGivenUp() {
        start(Patience.NANOS);
        worker.inFlight = 7;
        worker.startDataPath();
        Pipeline.await(worker.rounds);

        worker.beginEnd();

        Await.until("worker has ended", worker::hasEnded);
        assertThat(worker.failure()).isNull();
    }

    @Test
    @Clause({"sto-095", "sto-110"})
    void shouldSayThatACommandWasNotCarriedOutInTime() {
        startImpatient();
        worker.startDataPath();
        Pipeline.await(worker.rounds);

        DpuException failure =
                catchThrowableOfType(
                        DpuException.class, () -> worker.execute(() -> events.add("never")));

        assertThat(failure.status()).isEqualTo(Status.TIME_OUT);
        worker.stopDataPath();
        awaitACommand();
        assertThat(events).doesNotContain("never");
    }

    @Test
    void shouldStopWaitingForACommandThatDoesNotEnd() {
        startImpatient();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);

        // A busy machine may not even begin it in so short a time.
        Await.until(
                "a command was begun and given up",
                () -> {
                    DpuException failure =
                            catchThrowableOfType(
                                    DpuException.class,
                                    () ->
                                            worker.execute(() -> {
                                                begun.countDown();
                                                Pipeline.await(goOn);
                                                over.countDown();
                                            }));
                    assertThat(failure.status()).isEqualTo(Status.TIME_OUT);
                    return begun.getCount() == 0;
                });

        // The command still runs: a wait for its completion would have blocked this test.
        assertThat(over.getCount()).isEqualTo(1);
        goOn.countDown();
        Pipeline.await(over);
        awaitACommand();
    }
}
