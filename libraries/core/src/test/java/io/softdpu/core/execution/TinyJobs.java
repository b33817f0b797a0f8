package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.JobBase;
import io.softdpu.core.spi.JobQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Minimal context with jobs: each takes a configured number of slices, the oldest first, one slice
 * per retrieval, and ends with a configured status.
 */
public final class TinyJobs extends ContextBase<Context> {
    static final JobType COUNT = new JobType("tiny count");
    static final JobType SHOUT = new JobType("tiny shout");

    /** Slices that all queues have done. */
    final AtomicInteger slices = new AtomicInteger();

    int maxQueues = Integer.MAX_VALUE;
    boolean eventDriven = true;
    boolean configured = true;

    /** Whether something else than retrievals would bring its jobs to an end, and ring. */
    boolean waits;

    /** Done by the next thread that adds a queue, in the middle of it. */
    volatile @Nullable Runnable whileAddingQueue;

    /** Done by the next thread that starts the context, in the middle of it. */
    volatile @Nullable Runnable whileStarting;

    /** Done by the next thread that stops the context, in the middle of it. */
    volatile @Nullable Runnable whileStopping;

    volatile @Nullable RuntimeException defect;
    final List<String> calls = new ArrayList<>();

    TinyJobs(String name, Device device) {
        super(name, device);
    }

    TinyJob job(JobType type) {
        return new TinyJob(this, type);
    }

    TinyJob job() {
        return job(COUNT);
    }

    @Override
    public boolean isEventDrivenSupported() {
        return eventDriven;
    }

    @Override
    protected int maxWorkQueues() {
        return maxQueues;
    }

    @Override
    protected JobQueue newJobQueue(int depth) {
        Runnable once = whileAddingQueue;
        whileAddingQueue = null;
        run(once);
        return new Queue(depth);
    }

    private static void run(@Nullable Runnable once) {
        if (once != null) {
            once.run();
        }
    }

    @Override
    protected void checkConfiguration() {
        if (!configured) {
            throw new DpuException(
                    Status.BAD_STATE, "mandatory item is missing: item=counter, context=" + this);
        }
    }

    @Override
    protected ContextState onStart() {
        Runnable once = whileStarting;
        whileStarting = null;
        run(once);
        calls.add(hasEngine() ? "start on an engine" : "start on work queues");
        return ContextState.RUNNING;
    }

    @Override
    protected boolean onProgress() {
        return false;
    }

    @Override
    protected boolean onStop() {
        Runnable once = whileStopping;
        whileStopping = null;
        run(once);
        calls.add("stop");
        return true;
    }

    @Override
    protected boolean onArm() {
        return false;
    }

    @Override
    protected void onDisarm() {
        // Nothing was armed.
    }

    @Override
    protected void onDestroy() {
        calls.add("destroy");
    }

    /** A job that counts its slices. */
    static final class TinyJob extends JobBase<Job> {
        int slices = 1;
        Status outcome = Status.SUCCESS;
        boolean valid = true;
        boolean atOnce;
        boolean breaksContext;
        long number;
        private int left;

        TinyJob(ContextBase<?> context, JobType type) {
            super(context, type);
        }

        void setSlices(int newSlices) {
            requireUser();
            slices = newSlices;
        }

        @Override
        public long result() {
            return number;
        }
    }

    private final class Queue extends JobQueue {
        private final TinyJob[] ring;
        private int head;
        private int count;

        Queue(int depth) {
            super(TinyJobs.this, depth);
            ring = new TinyJob[depth()];
        }

        @Override
        protected boolean accepts(JobBase<?> job) {
            return job instanceof TinyJob;
        }

        @Override
        protected @Nullable Refusal onSubmit(JobBase<?> submitted) {
            TinyJob job = (TinyJob) submitted;
            if (!job.valid) {
                return Refusal.of(
                        Status.INVALID_VALUE, "job is not valid: valid=false, expected=true");
            }
            if (job.atOnce) {
                finish(job, job.outcome);
                return null;
            }
            job.left = job.slices;
            ring[(head + count++) % ring.length] = job;
            return null;
        }

        @Override
        protected boolean onProgress() {
            RuntimeException thrown = defect;
            if (thrown != null) {
                throw thrown;
            }
            if (count == 0) {
                return false;
            }
            TinyJob job = ring[head];
            slices.incrementAndGet();
            if (--job.left == 0) {
                if (job.breaksContext) {
                    fatal(job.outcome, "tiny engine is broken: job=" + job.userData());
                }
                finish(take(), job.outcome);
            }
            return true;
        }

        @Override
        protected boolean onArm() {
            return !waits && super.onArm();
        }

        @Override
        protected void onFlush() {
            while (inFlight() > 0) {
                finish(take(), Status.SHUTDOWN);
            }
        }

        private void finish(TinyJob job, Status status) {
            complete(job, status);
        }

        private TinyJob take() {
            TinyJob job = ring[head];
            head = (head + 1) % ring.length;
            count--;
            return job;
        }
    }
}
