package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/**
 * Result of {@link WorkQueue#progressRetrieve}: a completed job and its status (Core guide,
 * sections 3.4.4 and 3.4.8). Created once and filled by each call.
 *
 * <p>Valid after SUCCESS and after IO_FAILED; after any other result its accessors fail with
 * BAD_STATE. Thread: that of the queue.
 */
public final class JobEvent {
    private @Nullable Job job;

    private JobEvent() {}

    /** Creates an event, which is not valid until it was filled. */
    public static JobEvent create() {
        return new JobEvent();
    }

    /** Whether the last call has filled it. */
    public boolean isValid() {
        return job != null;
    }

    /**
     * The completed job. It belongs to the user again.
     *
     * @throws DpuException BAD_STATE if the event is not valid
     */
    public Job job() {
        if (job == null) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "event is not valid: job=none, expected=an event that SUCCESS or IO_FAILED"
                            + " was retrieved into");
        }
        return job;
    }

    /**
     * The type of the job.
     *
     * @throws DpuException BAD_STATE if the event is not valid
     */
    public JobType type() {
        return job().type();
    }

    /**
     * The result of the job: SUCCESS or the failure.
     *
     * @throws DpuException BAD_STATE if the event is not valid
     */
    public Status status() {
        return job().status();
    }

    /**
     * The outcome of the job as a number ({@link Job#result()}); after SUCCESS.
     *
     * @throws DpuException BAD_STATE if the event is not valid
     */
    public long result() {
        return job().result();
    }

    /**
     * The number that the user has attached to the job.
     *
     * @throws DpuException BAD_STATE if the event is not valid
     */
    public long userData() {
        return job().userData();
    }

    /**
     * The object that the user has attached to the job.
     *
     * @throws DpuException BAD_STATE if the event is not valid
     */
    public @Nullable Object userObject() {
        return job().userObject();
    }

    /** Fills it, or makes it invalid if the job is null. */
    void fill(@Nullable Job ended) {
        job = ended;
    }

    @Override
    public String toString() {
        return job == null
                ? "event[not valid]"
                : "event[type=%s, status=%s, userData=%d]"
                        .formatted(job.type(), job.status(), job.userData());
    }
}
