package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.spi.graph.QueueInstance;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/**
 * Result of {@link WorkQueue#progressRetrieve}: a completed job and its status (Core guide,
 * sections 3.4.4 and 3.4.8), or a graph instance that has ended (section 3.4.7), which has the type
 * {@link JobType#GRAPH_JOB} and no job. Created once and filled by each call.
 *
 * <p>Valid after SUCCESS and after IO_FAILED; after any other result its accessors fail with
 * BAD_STATE. Thread: that of the queue.
 */
public final class JobEvent {
    private @Nullable Job job;

    /** Null without a graph instance. What follows are its values at the retrieval. */
    private @Nullable Object instance;

    private Status instanceStatus = Status.SUCCESS;
    private long instanceUserData;

    private JobEvent() {}

    /** Creates an event, which is not valid until it was filled. */
    public static JobEvent create() {
        return new JobEvent();
    }

    /** Whether the last call has filled it. */
    public boolean isValid() {
        return job != null || instance != null;
    }

    /**
     * The completed job. It belongs to the user again.
     *
     * @throws DpuException BAD_STATE if the event is not valid, or of a graph instance
     */
    public Job job() {
        if (job == null) {
            throw instance == null
                    ? notValid()
                    : new DpuException(
                            Status.BAD_STATE,
                            Text.format(
                                    "event has no job: type=%s, instance=%s, expected=an event of a"
                                            + " job",
                                    JobType.GRAPH_JOB, instance));
        }
        return job;
    }

    /**
     * The type of the job; {@link JobType#GRAPH_JOB} for a graph instance.
     *
     * @throws DpuException BAD_STATE if the event is not valid
     */
    public JobType type() {
        return isOfInstance() ? JobType.GRAPH_JOB : job().type();
    }

    /**
     * The result of the job: SUCCESS or the failure; of a graph instance: SUCCESS or the status of
     * the first node that has failed.
     *
     * @throws DpuException BAD_STATE if the event is not valid
     */
    public Status status() {
        return isOfInstance() ? instanceStatus : job().status();
    }

    /**
     * The outcome of the job as a number ({@link Job#result()}); after SUCCESS. Of a graph instance
     * the number of its status, 0 for SUCCESS.
     *
     * @throws DpuException BAD_STATE if the event is not valid
     */
    public long result() {
        return isOfInstance() ? instanceStatus.code() : job().result();
    }

    /**
     * The number that the user has attached to the job or the graph instance.
     *
     * @throws DpuException BAD_STATE if the event is not valid
     */
    public long userData() {
        return isOfInstance() ? instanceUserData : job().userData();
    }

    /**
     * The object that the user has attached to the job. Of a graph instance the instance itself.
     *
     * @throws DpuException BAD_STATE if the event is not valid
     */
    public @Nullable Object userObject() {
        return isOfInstance() ? instance : job().userObject();
    }

    private boolean isOfInstance() {
        return instance != null;
    }

    private static DpuException notValid() {
        return new DpuException(
                Status.BAD_STATE,
                "event is not valid: job=none, expected=an event that SUCCESS or IO_FAILED"
                        + " was retrieved into");
    }

    /** Makes it invalid. */
    void clear() {
        job = null;
        if (instance != null) {
            instance = null;
        }
    }

    /** Fills it with a job. */
    void fill(Job ended) {
        job = ended;
    }

    /** Fills it with a graph instance, which may be submitted again before this is read. */
    void fill(QueueInstance ended) {
        instance = ended.instance();
        instanceStatus = ended.status();
        instanceUserData = ended.userData();
    }

    @Override
    public String toString() {
        return isValid()
                ? Text.format(
                        "event[type=%s, status=%s, userData=%d]", type(), status(), userData())
                : "event[not valid]";
    }
}
