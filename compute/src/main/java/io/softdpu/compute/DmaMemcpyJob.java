package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.JobBase;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The older form of a {@link DmaMemcpyTask}, for a work queue (Core guide, section 3.4): copies the
 * data of the source behind the data of the destination.
 *
 * <p>It is refused at submission with the statuses of the task. If it fails after that, it is
 * retrieved with IO_FAILED, and the event says exactly how: with those of the task, too. The
 * context and the other jobs go on.
 *
 * <p>Thread: one at a time; while it is in flight, that of the queue.
 */
public final class DmaMemcpyJob extends JobBase {
    private final Dma dma;
    private final Copy copy = new Copy(this::copied);
    private Buf source;
    private Buf destination;
    private @Nullable DmaLane lane;

    DmaMemcpyJob(Dma dma, Buf source, Buf destination) {
        super(dma, Dma.MEMCPY_JOB);
        this.dma = dma;
        this.source = source;
        this.destination = destination;
    }

    /**
     * Chooses what is read.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight
     */
    public DmaMemcpyJob setSource(Buf source) {
        requireUser();
        this.source = Arguments.notNull(source, "source");
        return this;
    }

    /**
     * Chooses what is written.
     *
     * @throws io.softdpu.core.DpuException IN_USE if the job is in flight
     */
    public DmaMemcpyJob setDestination(Buf destination) {
        requireUser();
        this.destination = Arguments.notNull(destination, "destination");
        return this;
    }

    /** What is read. */
    public Buf source() {
        return source;
    }

    /** What is written. */
    public Buf destination() {
        return destination;
    }

    @Override
    protected String submissionDetails() {
        return dma.describe(source, destination);
    }

    private boolean copied(Status ended) {
        return Objects.requireNonNull(lane, "the lane that took it").ended(this, ended);
    }

    Status begin(DmaLane taking) {
        lane = taking;
        return copy.begin(source, destination, dma.device(), dma.capabilities());
    }

    Copy copy() {
        return copy;
    }
}
