package io.softdpu.block;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.Regions;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link BlockWriteTask}. */
final class WriteTask extends BufTask<BlockWriteTask> implements BlockWriteTask {
    WriteTask(ChannelContext block) {
        super(block, BlockOperation.WRITE, Permissions.LOCAL_READ_ONLY, "source");
    }

    @Override
    public BlockWriteTask setOffset(long offsetBytes) {
        requireUser();
        request().offsetBytes = offsetBytes;
        return this;
    }

    @Override
    public BlockWriteTask setSource(Buf source) {
        return setBuf(source);
    }

    @Override
    public BlockWriteTask setFua(boolean fua) {
        requireUser();
        block().requireFua(fua);
        request().fua = fua;
        return this;
    }

    @Override
    public Buf source() {
        return buf();
    }

    @Override
    public boolean isFua() {
        return request().fua;
    }

    @Override
    @Nullable Refusal prepare() {
        Refusal refusal = checkReferences();
        if (refusal != null) {
            return refusal;
        }
        Buf source = buf();
        return prepare(source.dataLength(), source.dataOffset());
    }

    @Override
    @Nullable Refusal mark(Buf source) {
        return Regions.markSource(source, 1);
    }

    @Override
    protected void onFree() {
        super.onFree();
        request().fua = false;
    }

    @Override
    protected void onCompleted() {
        block().completed(this);
    }
}
