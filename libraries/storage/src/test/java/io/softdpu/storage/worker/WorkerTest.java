package io.softdpu.storage.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.storage.Pipeline;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Phases, commands and failures of a worker without contexts. */
class WorkerTest {
    private static final long TIMEOUT = 10_000_000_000L;

    /** A timeout that is waited for; within it a worker does what it is asked for. */
    private static final long SHORT = 2_000_000_000L;

    private static final Duration DEADLINE = Duration.ofSeconds(20);

    /**
     * Number of workers for which threads share processors on every machine, so that waits are of
     * one kind.
     */
    private static final int SLOTS = 4 + CpuBinding.availableProcessors();

    private final List<String> events = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger notified = new AtomicInteger();
    private final List<Throwable> escaped = Collections.synchronizedList(new ArrayList<>());
    private TestWorker worker;

    /** Records its calls, and has as many transactions in flight as the test sets. */
    private final class TestWorker extends Worker {
        volatile int inFlight;
        volatile RuntimeException atBegin;
        volatile RuntimeException inRound;
        volatile Error errorInRound;
        volatile Error atRelease;
        volatile CountDownLatch rounds = new CountDownLatch(1);
        final CountDownLatch retries = new CountDownLatch(20);
        volatile boolean expectsMessage;
        volatile boolean woken;
        volatile boolean refused;
        final RetryQueue queue = retryQueue(1, this::trySubmit);

        TestWorker(long timeoutNanos, CpuBinding cpu) {
            super("test", new WorkerSlot(3, SLOTS, cpu), timeoutNanos, notified::incrementAndGet);
        }

        /** Two contexts that are connected to each other. */
        private List<Rdma> connectedTo(Device device) {
            List<Rdma> contexts = List.of(manage(Rdma.create(device)), manage(Rdma.create(device)));
            for (Rdma context : contexts) {
                context.setPermissions(Permissions.of(AccessFlag.RDMA_READ));
                context.start();
            }
            RdmaConnection one = contexts.getFirst().exportConnection();
            RdmaConnection other = contexts.getLast().exportConnection();
            contexts.getFirst().connect(other.blob(), one);
            contexts.getLast().connect(one.blob(), other);
            return contexts;
        }

        private boolean trySubmit(int index) {
            retries.countDown();
            return !refused;
        }

        @Override
        protected void beginDataPath() {
            events.add("begin");
            if (refused) {
                queue.submit(0);
            }
            if (atBegin != null) {
                throw atBegin;
            }
        }

        @Override
        protected int inFlight() {
            return inFlight;
        }

        @Override
        protected long longestWaitNanos() {
            return Long.MAX_VALUE;
        }

        @Override
        protected boolean expectsMessageSoon() {
            return expectsMessage;
        }

        @Override
        protected void onRound() {
            operations.add(1);
            if (operations.get() == 1) {
                events.add("round");
            }
            rounds.countDown();
            if (woken) {
                wakeUp(); // keeps the rounds going without anything to wait for
            }
            if (inRound != null) {
                throw inRound;
            }
            if (errorInRound != null) {
                throw errorInRound;
            }
        }

        @Override
        protected void releaseObjects() {
            events.add("release");
            if (atRelease != null) {
                throw atRelease;
            }
        }
    }

    @AfterEach
    void endWorker() {
        worker.beginEnd();
        Await.until("worker has ended", DEADLINE, worker::hasEnded);
    }

    @Test
    @Clause({"sto-095", "sto-110", "sto-113"})
    void shouldCarryOutCommandsBeforeAndAfterTheDataPath() {
        start(TIMEOUT);
        Thread[] where = new Thread[1];
        worker.execute(() -> {
            where[0] = Thread.currentThread();
            events.add("command");
        });
        assertThat(where[0].getName()).isEqualTo("softdpu-test-3");
        assertThat(worker.query(() -> 42)).isEqualTo(42);

        worker.startDataPath();
        Pipeline.await(worker.rounds);
        worker.stopDataPath();
        Await.until("data path has ended", DEADLINE, worker::hasDataPathEnded);
        worker.execute(() -> events.add("afterwards"));
        worker.beginEnd();
        Await.until("worker has ended", DEADLINE, worker::hasEnded);

        assertThat(events).containsExactly("command", "begin", "round", "afterwards", "release");
        assertThat(worker.failure()).isNull();
        assertThat(worker.report().index()).isEqualTo(3);
        assertThat(worker.report().operations()).isPositive();
        assertThat(notified.get()).isPositive();
    }

    @Test
    @Clause({"sto-114", "sto-117"})
    void shouldGoOnUntilNothingIsInFlight() {
        start(TIMEOUT);
        worker.woken = true;
        worker.inFlight = 2;
        worker.startDataPath();
        Pipeline.await(worker.rounds);
        worker.stopDataPath();
        worker.rounds = new CountDownLatch(100);
        Pipeline.await(worker.rounds);
        assertThat(worker.hasDataPathEnded()).isFalse();

        worker.inFlight = 0;

        Await.until("data path has ended", DEADLINE, worker::hasDataPathEnded);
        assertThat(worker.failure()).isNull();
    }

    @Test
    @Clause("sto-117")
    void shouldGiveUpWhatStaysInFlight() {
        start(SHORT);
        worker.inFlight = 7;
        worker.startDataPath();
        Pipeline.await(worker.rounds);

        worker.stopDataPath();

        Await.until("data path has ended", DEADLINE, worker::hasDataPathEnded);
        assertThat(worker.failure().status()).isEqualTo(Status.TIME_OUT);
        assertThat(worker.failure()).hasMessageContaining("worker=3, inFlight=7");
    }

    /** The refusals of a context say whose engine it has. */
    @Test
    void shouldDriveAllItsContextsByTheEngineOfItsThread(@TempDir Path folder) {
        start(TIMEOUT);
        try (Machine machine = Machine.builder(Side.DPU).fabricFolder(folder).open();
                Device device = machine.findDevice("p0").open()) {
            List<Rdma> contexts = worker.query(() -> worker.connectedTo(device));

            Await.until("contexts run", DEADLINE, () -> worker.query(worker::areContextsReady));

            for (Rdma context : contexts) {
                DpuException refusal = catchThrowableOfType(DpuException.class, context::stop);
                assertThat(refusal.status()).isEqualTo(Status.NOT_PERMITTED);
                assertThat(refusal).hasMessageContaining("engineThread=softdpu-test-3");
            }
            worker.beginEnd();
            Await.until("worker has ended", DEADLINE, worker::hasEnded);
            assertThat(worker.failure()).isNull();
        }
    }

    @Test
    void shouldOfferAgainWhatWasRefusedAfterEachEvent() {
        start(TIMEOUT);
        worker.refused = true;
        worker.startDataPath();

        Await.until(
                "all has been offered again",
                DEADLINE,
                () -> {
                    worker.wakeUp();
                    return worker.retries.getCount() == 0;
                });
        worker.refused = false;
    }

    /** Awake from the beginning, a round looks once; or many times first, while that is new. */
    @Test
    void shouldLookManyTimesOnlyWhereItExpectsAMessageSoon() {
        start(TIMEOUT);
        worker.woken = true;
        assertThat(missesOf(100)).isLessThan(2 * worker.report().operations());
        worker.beginEnd();
        Await.until("worker has ended", DEADLINE, worker::hasEnded);

        start(TIMEOUT);
        worker.woken = true;
        worker.expectsMessage = true;
        assertThat(missesOf(8)).isGreaterThanOrEqualTo(8 * 64);
    }

    @Test
    @Clause("sto-116")
    void shouldCountWhatFoundNoWorkAsMisses() {
        start(TIMEOUT);
        worker.woken = true;

        assertThat(missesOf(50)).isGreaterThanOrEqualTo(50);

        assertThat(worker.report().progressHits()).isZero();
    }

    private long missesOf(int rounds) {
        worker.rounds = new CountDownLatch(rounds);
        worker.startDataPath();
        Pipeline.await(worker.rounds);
        worker.stopDataPath();
        Await.until("data path has ended", DEADLINE, worker::hasDataPathEnded);
        return worker.report().progressMisses();
    }

    @Test
    void shouldNotWaitForWhatIsInFlightWhenTheSessionIsGivenUp() {
        start(TIMEOUT);
        worker.inFlight = 7;
        worker.startDataPath();
        Pipeline.await(worker.rounds);
        long start = System.nanoTime();

        worker.beginEnd();

        Await.until("worker has ended", DEADLINE, worker::hasEnded);
        assertThat(System.nanoTime() - start).isLessThan(TIMEOUT);
        assertThat(worker.failure()).isNull();
    }

    @Test
    @Clause("sto-096")
    void shouldLetNoErrorOfACommandEscapeFromItsThread() {
        start(TIMEOUT);
        Thread thread = watchedThread();

        RuntimeException thrown =
                catchThrowableOfType(
                        RuntimeException.class,
                        () ->
                                worker.execute(() -> {
                                    throw new StackOverflowError("too deep");
                                }));

        assertThat(thrown).hasMessageContaining("too deep");
        assertNothingEscapes(thread, "too deep");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Clause("sto-096")
    void shouldLetNoErrorOfTheDataPathOrOfItsEndEscapeFromItsThread(boolean atEnd) {
        start(TIMEOUT);
        Thread thread = watchedThread();
        if (atEnd) {
            worker.atRelease = new StackOverflowError("too deep");
        } else {
            worker.errorInRound = new StackOverflowError("too deep");
        }
        worker.startDataPath();
        Pipeline.await(worker.rounds);

        worker.beginEnd();

        assertNothingEscapes(thread, "too deep");
    }

    /** The worker's thread, which tells from now on what ends it. */
    private Thread watchedThread() {
        return worker.query(() -> {
            Thread thread = Thread.currentThread();
            thread.setUncaughtExceptionHandler((_, e) -> escaped.add(e));
            return thread;
        });
    }

    private void assertNothingEscapes(Thread thread, String reason) {
        Await.until("worker has ended", DEADLINE, worker::hasEnded);
        Pipeline.join(thread);
        assertThat(escaped).isEmpty();
        assertThat(worker.failure().status()).isEqualTo(Status.UNEXPECTED);
        assertThat(worker.failure()).hasMessageContaining(reason);
        assertThat(events).endsWith("release");
    }

    @Test
    @Clause("sto-096")
    void shouldLetNoExceptionEscapeFromTheDataPath() {
        start(TIMEOUT);
        worker.inRound = new IllegalStateException("broken round");
        worker.startDataPath();

        Await.until("data path has ended", DEADLINE, () -> worker.failure() != null);

        DpuException failure =
                catchThrowableOfType(DpuException.class, () -> worker.throwFailure());
        assertThat(failure.status()).isEqualTo(Status.UNEXPECTED);
        assertThat(failure)
                .hasMessageContaining("role=test, worker=3")
                .hasMessageContaining("broken round");
        assertThat(worker.hasDataPathEnded()).isTrue();
        assertThat(catchThrowableOfType(DpuException.class, () -> worker.execute(() -> {})))
                .hasMessageContaining("broken round");
    }

    @Test
    @Clause("sto-096")
    void shouldKeepTheStatusOfWhatFailedAtTheBeginning() {
        start(TIMEOUT);
        worker.atBegin = new DpuException(Status.NO_MEMORY, "no room: of=anything");
        worker.startDataPath();

        Await.until("worker has failed", DEADLINE, () -> worker.failure() != null);

        assertThat(worker.failure().status()).isEqualTo(Status.NO_MEMORY);
    }

    @Test
    @Clause("sto-097")
    void shouldThrowWhatACommandThrewAndGoOn() {
        start(TIMEOUT);
        RuntimeException thrown =
                catchThrowableOfType(
                        RuntimeException.class,
                        () ->
                                worker.execute(() -> {
                                    throw new IllegalArgumentException("not so");
                                }));

        assertThat(thrown).isInstanceOf(IllegalArgumentException.class).hasMessage("not so");
        assertThat(worker.query(() -> "still here")).isEqualTo("still here");
    }

    @Test
    @Clause({"sto-095", "sto-110"})
    void shouldSayThatACommandWasNotCarriedOutInTime() {
        start(SHORT);
        worker.startDataPath();
        Pipeline.await(worker.rounds);

        DpuException failure =
                catchThrowableOfType(
                        DpuException.class, () -> worker.execute(() -> events.add("never")));

        assertThat(failure.status()).isEqualTo(Status.TIME_OUT);
        worker.stopDataPath();
        Await.until("data path has ended", DEADLINE, worker::hasDataPathEnded);
        worker.execute(() -> {});
        assertThat(events).doesNotContain("never");
    }

    @Test
    void shouldStopWaitingForACommandThatDoesNotEnd() {
        start(SHORT);
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);

        DpuException failure =
                catchThrowableOfType(
                        DpuException.class,
                        () ->
                                worker.execute(() -> {
                                    Pipeline.await(goOn);
                                    over.countDown();
                                }));

        // The command still runs: a wait for its completion would have blocked this test.
        assertThat(failure.status()).isEqualTo(Status.TIME_OUT);
        assertThat(over.getCount()).isEqualTo(1);
        goOn.countDown();
        Pipeline.await(over);
        assertThat(worker.query(() -> "next")).isEqualTo("next");
    }

    @Test
    void shouldEndAlsoWhereTakingDownEndsInAnError() {
        start(TIMEOUT);
        worker.atRelease = new StackOverflowError("too deep");

        worker.beginEnd();

        Await.until("worker has ended", DEADLINE, worker::hasEnded);
        assertThat(worker.failure().status()).isEqualTo(Status.UNEXPECTED);
        assertThat(worker.failure()).hasMessageContaining("too deep");
    }

    @Test
    void shouldSayWhyItCouldNotBegin() {
        worker = new TestWorker(TIMEOUT, CpuBinding.hard(4095));

        DpuException failure = catchThrowableOfType(DpuException.class, () -> worker.start());

        assertThat(failure).isNotNull();
        assertThat(failure).hasMessageContaining("4095");
    }

    private void start(long timeoutNanos) {
        worker = new TestWorker(timeoutNanos, CpuBinding.any());
        worker.start();
    }
}
