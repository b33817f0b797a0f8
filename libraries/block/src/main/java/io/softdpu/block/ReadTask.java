package io.softdpu.block;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.Regions;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link BlockReadTask}. */
final class ReadTask extends BufTask<BlockReadTask> implements BlockReadTask {
    private long lengthBytes;

    ReadTask(ChannelContext block) {
        super(block, BlockOperation.READ, Permissions.LOCAL_READ_WRITE, "destination");
    }

    @Override
    public BlockReadTask setRange(long offsetBytes, long lengthBytes) {
        requireUser();
        request().offsetBytes = offsetBytes;
        this.lengthBytes = lengthBytes;
        return this;
    }

    @Override
    public BlockReadTask setDestination(Buf destination) {
        return setBuf(destination);
    }

    @Override
    public long lengthBytes() {
        return lengthBytes;
    }

    @Override
    public Buf destination() {
        return buf();
    }

    @Override
    @Nullable Refusal prepare() {
        Refusal refusal = checkReferences();
        if (refusal != null) {
            return refusal;
        }
        Buf destination = buf();
        return prepare(lengthBytes, destination.dataOffset() + destination.dataLength());
    }

    @Override
    @Nullable Refusal mark(Buf destination) {
        return lengthBytes > destination.tailroom()
                ? BufLists.tooLittleTailroom("destination", destination, lengthBytes)
                : Regions.markDestination(destination, 1, lengthBytes);
    }

    @Override
    void release(Status ended) {
        super.release(ended);
        if (ended == Status.SUCCESS) {
            Regions.appendData(buf(), lengthBytes);
        }
    }

    @Override
    protected void onCompleted() {
        block().completed(this);
    }
}
