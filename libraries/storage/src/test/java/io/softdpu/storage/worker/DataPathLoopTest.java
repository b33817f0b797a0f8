package io.softdpu.storage.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.WaitMode;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.ProcessView;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The end of the data path and its statistics, of workers without contexts. */
class DataPathLoopTest {
    private static final int ROUNDS = 100;

    private final List<Worker> workers = new ArrayList<>();

    /** Worker whose rounds never wait. */
    private static final class LoopWorker extends Worker {
        private final boolean hasWork;
        volatile int inFlight;
        volatile boolean fails;
        volatile long workDone;
        volatile CountDownLatch rounds = new CountDownLatch(ROUNDS);
        private EngineTimer work;

        LoopWorker(int index, boolean hasWork) {
            super(
                    "loop",
                    new WorkerSlot(index, CpuBinding.any(), WaitMode.ADAPTIVE),
                    Patience.NANOS,
                    () -> {});
            this.hasWork = hasWork;
        }

        @Override
        protected void beginDataPath() {
            work = engine().timer(() -> workDone++);
        }

        @Override
        protected void onRound() {
            if (hasWork) {
                work.set(Duration.ZERO);
            } else {
                wakeUp();
            }
            if (fails) {
                taskFailed("task failed", Status.IO_FAILED);
            }
            rounds.countDown();
        }

        @Override
        protected int inFlight() {
            return inFlight;
        }

        @Override
        protected void releaseObjects() {}

        /** The report is complete only then. */
        boolean hasLeftTheLoop() {
            return report().dataPathDuration().isPositive();
        }

        void awaitRounds() {
            rounds = new CountDownLatch(ROUNDS);
            Pipeline.await(rounds);
        }

        void stopAndAwait() {
            stopDataPath();
            Await.until("data path has ended", this::hasLeftTheLoop);
        }
    }

    @AfterEach
    void endWorkers() {
        workers.forEach(Worker::beginEnd);
        workers.forEach(worker -> Await.until("worker has ended", worker::hasEnded));
    }

    @Test
    @Clause("sto-114")
    void shouldMakeProgressUntilItIsStoppedThoughNothingIsInFlight() {
        LoopWorker worker = begin(false);

        worker.awaitRounds();

        assertThat(worker.hasDataPathEnded()).isFalse();
        worker.stopAndAwait();
        assertThat(worker.report().progressMisses()).isGreaterThanOrEqualTo(ROUNDS);
        assertThat(worker.failure()).isNull();
    }

    @Test
    @Clause("sto-117")
    void shouldNotWaitForWhatIsInFlightOnceItHasFailed() {
        LoopWorker worker = begin(false);
        worker.inFlight = 7;
        worker.stopDataPath();
        worker.awaitRounds();
        assertThat(worker.hasLeftTheLoop()).isFalse();

        worker.fails = true;

        Await.until("data path has ended", worker::hasLeftTheLoop);
        assertThat(worker.failure().status()).isEqualTo(Status.IO_FAILED);
    }

    @Test
    @Clause("sto-116")
    void shouldCountRoundsWithWorkAsHitsAndOthersAsMissesOfEachWorker() {
        LoopWorker busy = begin(true);
        LoopWorker idle = begin(false);
        busy.awaitRounds();
        idle.awaitRounds();

        busy.stopAndAwait();
        idle.stopAndAwait();

        assertThat(busy.report().progressHits())
                .isEqualTo(busy.workDone)
                .isGreaterThanOrEqualTo(ROUNDS - 1);
        assertThat(busy.report().progressMisses()).isLessThan(busy.report().progressHits());
        assertThat(idle.report().progressHits()).isZero();
        assertThat(idle.report().progressMisses()).isGreaterThanOrEqualTo(ROUNDS - 1);
    }

    /**
     * A safepoint of the JVM may stop the thread in the kernel, so a stretch of many rounds without
     * a voluntary switch is what shows the loop; one that sleeps has none.
     */
    @Test
    @Clause("sto-118")
    void shouldPollAnIdleEngineWithoutASleepWhereItIsToldTo() throws Exception {
        BusyWorker worker = new BusyWorker();
        workers.add(worker);
        worker.start();
        worker.startDataPath();
        Path status = Pipeline.await(worker.status);

        long rounds = 20_000;
        Await.byStep(
                "rounds without a voluntary switch",
                () -> {
                    long switches = voluntarySwitches(status);
                    long misses = worker.report().progressMisses();
                    Await.until(
                            "rounds", () -> worker.report().progressMisses() >= misses + rounds);
                    return voluntarySwitches(status) == switches;
                },
                () -> {});

        assertThat(worker.waits).isZero();
        worker.stopDataPath();
        Await.until("data path has ended", worker::hasDataPathEnded);
        assertThat(worker.failure()).isNull();
        assertThat(worker.report().progressHits()).isZero();
    }

    /** Worker that polls, and counts the waits that it is asked for. */
    private static final class BusyWorker extends Worker {
        final CompletableFuture<Path> status = new CompletableFuture<>();
        volatile int waits;

        BusyWorker() {
            super(
                    "busy",
                    new WorkerSlot(0, CpuBinding.any(), WaitMode.BUSY),
                    Patience.NANOS,
                    () -> {});
        }

        @Override
        protected void beginDataPath() {
            try {
                Path thread = Files.readSymbolicLink(Path.of("/proc/thread-self"));
                status.complete(Path.of("/proc").resolve(thread).resolve("status"));
            } catch (IOException e) {
                status.completeExceptionally(e);
            }
        }

        @Override
        protected void awaitWork(ProgressEngine engine, Duration longest) {
            waits++;
            super.awaitWork(engine, longest);
        }

        @Override
        protected int inFlight() {
            return 0;
        }

        @Override
        protected void releaseObjects() {}
    }

    private static long voluntarySwitches(Path status) {
        return ProcessView.text(status)
                .lines()
                .filter(line -> line.startsWith("voluntary_ctxt_switches:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .sum();
    }

    private LoopWorker begin(boolean hasWork) {
        LoopWorker worker = new LoopWorker(workers.size(), hasWork);
        workers.add(worker);
        worker.start();
        worker.startDataPath();
        return worker;
    }
}
