package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.TaskBase;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link DmaMemcpyTask}. */
final class MemcpyTask extends TaskBase implements DmaMemcpyTask {
    private final DmaContext dma;
    private final Copy copy = new Copy(this::copied);
    private @Nullable Buf source;
    private @Nullable Buf destination;

    MemcpyTask(DmaContext dma) {
        super(dma);
        this.dma = dma;
    }

    @Override
    public DmaMemcpyTask setSource(Buf source) {
        requireUser();
        this.source = Arguments.notNull(source, "source");
        return this;
    }

    @Override
    public DmaMemcpyTask setDestination(Buf destination) {
        requireUser();
        this.destination = Arguments.notNull(destination, "destination");
        return this;
    }

    @Override
    public Buf source() {
        return requireSet(source, "source");
    }

    @Override
    public Buf destination() {
        return requireSet(destination, "destination");
    }

    private boolean copied(Status ended) {
        complete(ended);
        return dma.mayCopyMore();
    }

    @Override
    protected @Nullable Refusal onSubmit() {
        Refusal refusal = copy.begin(source(), destination(), dma.device(), dma.capabilities());
        if (refusal == null) {
            dma.add(copy);
        }
        return refusal;
    }

    @Override
    protected void onCompleted() {
        dma.completed(this);
    }

    @Override
    protected void onFree() {
        source = null;
        destination = null;
    }

    private <T> T requireSet(@Nullable T value, String item) {
        if (value == null) {
            throw new DpuException(
                    Status.BAD_STATE, "task was freed: item=%s, context=%s".formatted(item, dma));
        }
        return value;
    }

    @Override
    public DmaMemcpyTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public DmaMemcpyTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
