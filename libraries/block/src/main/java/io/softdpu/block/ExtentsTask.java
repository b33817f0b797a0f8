package io.softdpu.block;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.ExtentList;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/** Implementation of {@link BlockExtentsTask}. */
final class ExtentsTask extends RangeTask<BlockExtentsTask> implements BlockExtentsTask {
    private final ExtentList extents;

    ExtentsTask(ChannelContext block) {
        this(block, new ExtentList(MAX_EXTENTS));
    }

    private ExtentsTask(ChannelContext block, ExtentList extents) {
        super(block, BlockOperation.EXTENTS, extents);
        this.extents = extents;
    }

    @Override
    public int extentCount() {
        return isInFlight() ? 0 : extents.count();
    }

    @Override
    public long extentLengthBytes(int index) {
        return extents.lengthBytes(checked(index));
    }

    @Override
    public boolean isHole(int index) {
        return extents.isHole(checked(index));
    }

    private int checked(int index) {
        requireUser();
        int count = extents.count();
        if (index < 0 || index >= count) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format("no such extent: index=%d, expected=0 to below %d", index, count));
        }
        return index;
    }

    @Override
    @Nullable Refusal prepare() {
        Refusal refusal = super.prepare();
        if (refusal == null) {
            extents.clear();
        }
        return refusal;
    }

    @Override
    void release(Status ended) {
        if (ended != Status.SUCCESS) {
            extents.clear();
        }
    }

    @Override
    protected void onFree() {
        extents.clear();
    }

    @Override
    protected void onCompleted() {
        block().completed(this);
    }
}
