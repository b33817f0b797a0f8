package io.softdpu.core.execution;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyContext.TinyObserver;
import io.softdpu.core.spi.ContextBase;
import io.softdpu.core.spi.JobBase;
import io.softdpu.core.spi.JobQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Context with the jobs that the nodes of a graph need: each takes a configured number of slices,
 * the oldest first, one slice per retrieval, and ends with a configured status.
 */
public final class TinyJobs extends ContextBase<Context> {
    static final JobType COUNT = new JobType("tiny count");
    static final JobType SHOUT = new JobType("tiny shout");
    private static final Refusal BUSY =
            Refusal.ready(Status.AGAIN, () -> "tiny context is busy: busy=true, expected=false");

    /** Slices that all queues have done. */
    final AtomicInteger slices = new AtomicInteger();

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
    protected int maxWorkQueues() {
        return Integer.MAX_VALUE;
    }

    @Override
    protected JobQueue newJobQueue(int depth) {
        return new Queue(depth);
    }

    @Override
    protected void checkConfiguration() {
        // Nothing is mandatory.
    }

    @Override
    protected ContextState onStart() {
        return ContextState.RUNNING;
    }

    @Override
    protected boolean onProgress() {
        return false;
    }

    @Override
    protected boolean onStop() {
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
        // Holds nothing.
    }

    /** A job that counts its slices. */
    static final class TinyJob extends JobBase<Job> {
        int slices = 1;
        Status outcome = Status.SUCCESS;
        boolean valid = true;
        boolean atOnce;
        boolean breaksContext;

        /** Whether the context cannot take it at present. */
        @Nullable BooleanSupplier refusedForNow;

        @Nullable TinyObserver observer;
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
            return 0;
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
            if (job.refusedForNow != null && job.refusedForNow.getAsBoolean()) {
                return BUSY;
            }
            if (job.observer != null) {
                job.observer.accepted();
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
        protected void onFlush() {
            while (inFlight() > 0) {
                finish(take(), Status.SHUTDOWN);
            }
        }

        private void finish(TinyJob job, Status status) {
            if (job.observer != null) {
                job.observer.finished(status);
            }
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
