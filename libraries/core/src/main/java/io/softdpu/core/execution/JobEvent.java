package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/**
 * What {@link WorkQueue#progressRetrieve} has found: which job has ended, and how (Core guide,
 * sections 3.4.4 and 3.4.8). Made once and filled anew by each call.
 *
 * <p>Valid after SUCCESS and after IO_FAILED; after any other answer there is nothing to be read,
 * and a try fails with BAD_STATE. Thread: that of the queue.
 */
public final class JobEvent {
    private @Nullable Job job;

    private JobEvent() {}

    /** Makes an event, not valid before it was filled. */
    public static JobEvent create() {
        return new JobEvent();
    }

    /** Whether the last call has filled it. */
    public boolean isValid() {
        return job != null;
    }

    /**
     * The job that has ended. It is the user's again.
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
     * What kind of job it was.
     *
     * @throws DpuException BAD_STATE if the event is not valid
     */
    public JobType type() {
        return job().type();
    }

    /**
     * How the job ended: SUCCESS, or the further error code that says exactly what went wrong.
     *
     * @throws DpuException BAD_STATE if the event is not valid
     */
    public Status status() {
        return job().status();
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

    /** Fills it, or with null makes it invalid. */
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
