package io.softdpu.block;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.core.check.Refusal;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link BlockFlushTask}. */
final class FlushTask extends BlockTask<BlockFlushTask> implements BlockFlushTask {
    FlushTask(ChannelContext block) {
        super(block, BlockOperation.FLUSH, null);
    }

    @Override
    @Nullable Refusal prepare() {
        return null;
    }

    @Override
    protected void onCompleted() {
        block().completed(this);
    }
}
