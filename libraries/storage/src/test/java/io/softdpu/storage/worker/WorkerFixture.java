package io.softdpu.storage.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.storage.WaitMode;
import io.softdpu.storage.wire.IoType;
import io.softdpu.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;

/** Base of the tests of a worker: a worker without contexts that records its calls. */
abstract class WorkerFixture {
    /** A timeout that is waited for. */
    static final long SHORT = 50_000_000L;

    final List<String> events = Collections.synchronizedList(new ArrayList<>());
    final AtomicInteger notified = new AtomicInteger();
    final List<Throwable> escaped = Collections.synchronizedList(new ArrayList<>());
    TestWorker worker;

    /** Records its calls, and has as many transactions in flight as the test sets. */
    final class TestWorker extends Worker {
        volatile int inFlight;
        volatile RuntimeException atBegin;
        volatile RuntimeException inRound;
        volatile Error errorInRound;
        volatile Error atRelease;
        volatile CountDownLatch rounds = new CountDownLatch(1);
        final CountDownLatch retries = new CountDownLatch(20);
        volatile boolean woken;
        volatile boolean refused;
        final RetryQueue queue = retryQueue(1, this::trySubmit);

        TestWorker(long timeoutNanos, CpuBinding cpu) {
            super(
                    "test",
                    new WorkerSlot(3, cpu, WaitMode.ADAPTIVE),
                    timeoutNanos,
                    notified::incrementAndGet);
        }

        /** Two contexts that are connected to each other. */
        List<Rdma> connectedTo(Device device) {
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
        protected void awaitWork(ProgressEngine engine, Duration longest) {
            engine.await(longest);
        }

        @Override
        protected void onRound() {
            completed(IoType.RESULT, 0);
            if (report().operations() == 1) {
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
        Await.until("worker has ended", worker::hasEnded);
    }

    void start(long timeoutNanos) {
        worker = new TestWorker(timeoutNanos, CpuBinding.any());
        worker.start();
    }

    /** A worker that soon gives up what does not end. */
    void startImpatient() {
        worker = new TestWorker(SHORT, CpuBinding.any());
        try {
            worker.start();
        } catch (DpuException e) {
            assertThat(e.status()).isEqualTo(Status.TIME_OUT); // it begins later
        }
        awaitACommand();
    }

    /** Until the worker takes commands, however late on a busy machine. */
    final void awaitACommand() {
        Await.until(
                "a command was carried out",
                () -> {
                    try {
                        return worker.query(() -> true);
                    } catch (DpuException e) {
                        assertThat(e.status()).isEqualTo(Status.TIME_OUT);
                        return false;
                    }
                });
    }
}
