package io.softdpu.block;

import io.softdpu.block.spi.BlockOperation;

/** Implementation of {@link BlockWriteZeroesTask}. */
final class WriteZeroesTask extends RangeTask<BlockWriteZeroesTask>
        implements BlockWriteZeroesTask {
    WriteZeroesTask(ChannelContext block) {
        super(block, BlockOperation.WRITE_ZEROES, null);
    }

    @Override
    public BlockWriteZeroesTask setFua(boolean fua) {
        requireUser();
        block().requireFua(fua);
        request().fua = fua;
        return this;
    }

    @Override
    public BlockWriteZeroesTask setKeepAllocated(boolean keepAllocated) {
        requireUser();
        request().keepAllocated = keepAllocated;
        return this;
    }

    @Override
    public boolean isFua() {
        return request().fua;
    }

    @Override
    public boolean isKeepAllocated() {
        return request().keepAllocated;
    }

    @Override
    protected void onFree() {
        request().fua = false;
        request().keepAllocated = false;
    }

    @Override
    protected void onCompleted() {
        block().completed(this);
    }
}
