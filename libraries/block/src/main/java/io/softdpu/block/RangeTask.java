package io.softdpu.block;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.ExtentList;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Task;
import org.jspecify.annotations.Nullable;

/**
 * Task on a range of blocks without data.
 *
 * @param <T> the public type, which setters return
 */
abstract class RangeTask<T extends Task> extends BlockTask<T> {
    RangeTask(ChannelContext block, BlockOperation operation, @Nullable ExtentList extents) {
        super(block, operation, extents);
    }

    /** Sets the range of the device. */
    public final T setRange(long offsetBytes, long lengthBytes) {
        requireUser();
        request().offsetBytes = offsetBytes;
        request().lengthBytes = lengthBytes;
        return self();
    }

    /** The offset in the device in bytes. */
    public final long offsetBytes() {
        return request().offsetBytes;
    }

    /** The number of bytes. */
    public final long lengthBytes() {
        return request().lengthBytes;
    }

    @Override
    @Nullable Refusal prepare() {
        return block().ranges().range(offsetBytes(), lengthBytes());
    }
}
