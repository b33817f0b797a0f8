package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.internal.engine.QueueMember;
import io.softdpu.core.internal.engine.WorkQueueImpl;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A work queue that is armed while its context fails on another thread: it signals, and once for
 * both.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "one signal, whichever came first")
@State
public class QueueArming {
    private final Failing context = Failing.next();

    @Actor
    public void fail() {
        context.failed = true;
        context.queue.wake();
    }

    @Actor
    public void sleep(II_Result r) {
        context.queue.arm();
        r.r1 = context.queue.poller().sleep(Pollers.LOST_NANOS) ? 1 : 0;
    }

    @Arbiter
    public void look(II_Result r) {
        r.r2 = context.queue.poller().sleep(0) ? 1 : 0;
    }

    /** A context of a queue of its own, with work to do once it has failed; used in turn. */
    private static final class Failing extends QueueMember<Object> {
        private static final Failing[] POOL = new Failing[Pollers.COUNT];
        private static final AtomicLong NEXT = new AtomicLong();

        static {
            for (int i = 0; i < Pollers.COUNT; i++) {
                POOL[i] = new Failing();
            }
        }

        private final WorkQueueImpl<Object> queue = new WorkQueueImpl<>(1);
        private volatile boolean failed;

        private Failing() {
            queue.setEventDriven(true);
            queue.add(this);
        }

        static Failing next() {
            Failing next = POOL[(int) (NEXT.getAndIncrement() % Pollers.COUNT)];
            next.queue.clear();
            next.failed = false;
            return next;
        }

        @Override
        public Object context() {
            return this;
        }

        @Override
        public boolean isEventDrivenSupported() {
            return true;
        }

        @Override
        public boolean isInFlight(Object job) {
            return false;
        }

        @Override
        public boolean isTaken(Object job) {
            return false;
        }

        @Override
        public String describe(Object job) {
            return "";
        }

        @Override
        public Refusal submit(Object job) {
            return Refusal.of(Status.NOT_SUPPORTED, "no jobs: jobs=0, expected=none");
        }

        @Override
        public Refusal submitNode(Object job) {
            return submit(job);
        }

        @Override
        public void refused(Object job, Refusal refusal) {
            // No job is submitted.
        }

        @Override
        public boolean progress() {
            return false;
        }

        @Override
        public void failed(RuntimeException thrown) {
            throw thrown;
        }

        @Override
        public boolean arm() {
            return failed;
        }

        @Override
        public void disarm() {
            // Nothing is armed.
        }

        @Override
        public boolean retrieved(Object job) {
            return true; // no job is submitted
        }

        @Override
        public int inFlight() {
            return 0;
        }

        @Override
        public void remove() {
            // It keeps its queue.
        }
    }
}
