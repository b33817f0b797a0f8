package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.JobBase;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link DmaMemcpyJob}. */
final class MemcpyJob extends JobBase implements DmaMemcpyJob {
    private final DmaContext dma;
    private final Copy copy = new Copy(this::copied);
    private Buf source;
    private Buf destination;
    private @Nullable DmaJobQueue queue;

    MemcpyJob(DmaContext dma, Buf source, Buf destination) {
        super(dma, Dma.MEMCPY_JOB);
        this.dma = dma;
        this.source = source;
        this.destination = destination;
    }

    @Override
    public DmaMemcpyJob setSource(Buf source) {
        requireUser();
        this.source = Arguments.notNull(source, "source");
        return this;
    }

    @Override
    public DmaMemcpyJob setDestination(Buf destination) {
        requireUser();
        this.destination = Arguments.notNull(destination, "destination");
        return this;
    }

    @Override
    public Buf source() {
        return source;
    }

    @Override
    public Buf destination() {
        return destination;
    }

    @Override
    protected String operands() {
        return ", source=%s, destination=%s".formatted(source, destination);
    }

    private boolean copied(Status ended) {
        return Objects.requireNonNull(queue, "the queue that it was submitted to")
                .ended(this, ended);
    }

    @Nullable Refusal begin(DmaJobQueue submittedTo) {
        queue = submittedTo;
        return copy.begin(source, destination, dma.device(), dma.capabilities());
    }

    Copy copy() {
        return copy;
    }

    @Override
    public DmaMemcpyJob setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public DmaMemcpyJob setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
