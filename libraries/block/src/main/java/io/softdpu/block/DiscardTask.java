package io.softdpu.block;

import io.softdpu.block.spi.BlockOperation;

/** Implementation of {@link BlockDiscardTask}. */
final class DiscardTask extends RangeTask<BlockDiscardTask> implements BlockDiscardTask {
    DiscardTask(ChannelContext block) {
        super(block, BlockOperation.DISCARD, null);
    }

    @Override
    protected void onCompleted() {
        block().completed(this);
    }
}
