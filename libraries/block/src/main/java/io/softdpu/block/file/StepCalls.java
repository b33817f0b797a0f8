package io.softdpu.block.file;

import io.softdpu.block.spi.BlockRequest;
import io.softdpu.block.spi.ExtentList;
import io.softdpu.linux.FileBlocks;
import io.softdpu.linux.FileIo;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** System calls for the steps of a channel, each of which waits until its step is done. */
final class StepCalls {
    private final FileDevice device;
    private final int fd;

    /**
     * Calls to a file.
     *
     * @param fd the open file of the channel
     */
    StepCalls(FileDevice device, int fd) {
        this.device = device;
        this.fd = fd;
    }

    /** Does a step; its result as in {@link Slot#result}, unless it throws. */
    long execute(Slot slot) {
        return switch (slot.step) {
            case READ -> FileIo.read(fd, memoryOf(slot), slot.offsetBytes);
            case WRITE ->
                    slot.durable
                            ? FileIo.writeDurably(fd, memoryOf(slot), slot.offsetBytes)
                            : FileIo.write(fd, memoryOf(slot), slot.offsetBytes);
            case SYNC -> {
                FileIo.syncData(fd);
                yield 0;
            }
            case RENEW -> {
                device.loss().renewIdentity();
                yield 0;
            }
            case ALLOCATE -> {
                FileBlocks.allocate(fd, slot.mode, slot.offsetBytes, slot.lengthBytes);
                yield 0;
            }
            case FIND -> {
                BlockRequest request = Objects.requireNonNull(slot.request, "a request");
                find(request, Objects.requireNonNull(request.extents, "a list of extents"));
                yield 0;
            }
        };
    }

    private static MemorySegment memoryOf(Slot slot) {
        return slot.memory.asSlice(slot.memoryOffsetBytes, slot.lengthBytes);
    }

    /** Finds extents: a block of which any byte is data is data. */
    private void find(BlockRequest request, ExtentList extents) {
        long mask = device.properties().blockSizeBytes() - 1L;
        long end = request.offsetBytes + request.lengthBytes;
        long at = request.offsetBytes;
        boolean room = true;
        while (at < end && room) {
            long data = FileBlocks.nextData(fd, at);
            long holeEnd = data < 0 ? end : Math.min(end, data & ~mask);
            if (holeEnd > at) {
                room = extents.add(holeEnd - at, true);
                at = holeEnd;
            } else {
                long hole = FileBlocks.nextHole(fd, data);
                long dataEnd = hole < 0 ? end : Math.min(end, (hole + mask) & ~mask);
                room = extents.add(dataEnd - at, false);
                at = dataEnd;
            }
        }
    }
}
