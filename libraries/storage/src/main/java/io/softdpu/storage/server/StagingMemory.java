package io.softdpu.storage.server;

import io.softdpu.block.property.BlockProperties;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import io.softdpu.storage.worker.Closeables;
import java.util.BitSet;

/**
 * Memory of a worker through which bytes go between a volume and the memory of the initiator, with
 * an mmap over all of it. Pieces are given out of it in whole units of a page or more, the lowest
 * first, so that few of them stay in the caches of the processor.
 *
 * <p>Belongs to the worker's thread; allocates nothing after its creation.
 */
final class StagingMemory implements AutoCloseable {
    /** Result of {@link #take} where there is no room. */
    static final long NO_ROOM = -1;

    /** Length in bytes of a piece beyond which a longer one is no faster. */
    private static final long MAX_PIECE_BYTES = 1 << 20;

    /** Alignment that all memory has, in bytes. */
    private static final long PAGE_BYTES = 4096;

    private final long unitBytes;
    private final int units;
    private final LocalMemory memory;
    private final Mmap mmap;

    /** Where the first unit is in the memory. */
    private final long base;

    private final BitSet taken;
    private int freeUnits;

    /**
     * Allocates the memory.
     *
     * @param sizeBytes at least {@link #leastBytes}
     * @throws DpuException NO_MEMORY naming the option if there is not as much
     */
    StagingMemory(Device device, BlockProperties volume, long sizeBytes) {
        unitBytes = unitBytes(volume);
        units = (int) Math.min(sizeBytes / unitBytes, Integer.MAX_VALUE);
        freeUnits = units;
        // The alignment of the memory itself is not known before.
        memory = allocate(units * unitBytes + volume.memoryAlignmentBytes() - 1, sizeBytes);
        taken = new BitSet(units);
        mmap = Mmap.create();
        try {
            base = -memory.segment().address() & (volume.memoryAlignmentBytes() - 1);
            mmap.setMemory(memory)
                    .setPermissions(Permissions.LOCAL_READ_WRITE)
                    .addDevice(device)
                    .start();
        } catch (RuntimeException | Error e) {
            Closeables.afterFailure(e, this);
            throw e;
        }
    }

    private static LocalMemory allocate(long bytes, long sizeBytes) {
        try {
            return LocalMemory.allocate(bytes);
        } catch (DpuException e) {
            throw new DpuException(
                    e.status(),
                    Text.format(
                            "memory for staging is not available: stagingBytes=%d,"
                                    + " expected=a smaller --staging-size, reason=%s",
                            sizeBytes, Reason.of(e)),
                    e);
        }
    }

    /** Length in bytes of the longest piece for a volume: whole blocks. */
    static long pieceBytes(BlockProperties volume) {
        return Math.min(MAX_PIECE_BYTES, volume.maxRequestBytes());
    }

    /** Size in bytes of the least memory, which has one piece of the longest. */
    static long leastBytes(BlockProperties volume) {
        return roundUp(pieceBytes(volume), unitBytes(volume));
    }

    /**
     * Checks a size.
     *
     * @throws DpuException NO_MEMORY naming the option if it is less than the least
     */
    static void require(BlockProperties volume, long sizeBytes) {
        if (sizeBytes < leastBytes(volume)) {
            throw new DpuException(
                    Status.NO_MEMORY,
                    Text.format(
                            "memory for staging is too small for a piece of a request:"
                                    + " stagingBytes=%d, volume=%s, expected=--staging-size %d"
                                    + " or more",
                            sizeBytes, volume.description(), leastBytes(volume)));
        }
    }

    private static long unitBytes(BlockProperties volume) {
        return Math.max(
                PAGE_BYTES, Math.max(volume.blockSizeBytes(), volume.memoryAlignmentBytes()));
    }

    private static long roundUp(long bytes, long unitBytes) {
        return (bytes + unitBytes - 1) / unitBytes * unitBytes;
    }

    /** The mmap over all of it. */
    Mmap mmap() {
        return mmap;
    }

    /** Number of pieces that it can have at a time. */
    int maxPieces() {
        return units;
    }

    /** Number of pieces of this length that it can have at a time. */
    int maxPieces(long pieceBytes) {
        return units / unitsOf(pieceBytes);
    }

    /**
     * Takes room for a piece.
     *
     * @return its offset in the mmap in bytes, aligned as the volume requires; {@link #NO_ROOM} if
     *     there is none
     */
    long take(long pieceBytes) {
        int wanted = unitsOf(pieceBytes);
        if (wanted > freeUnits) {
            return NO_ROOM;
        }
        int from = taken.nextClearBit(0);
        while (from + wanted <= units) {
            int next = taken.nextSetBit(from);
            if (next < 0 || next - from >= wanted) {
                taken.set(from, from + wanted);
                freeUnits -= wanted;
                return base + from * unitBytes;
            }
            from = taken.nextClearBit(next);
        }
        return NO_ROOM;
    }

    /** Returns the room of a piece, which no task uses any more. */
    void giveBack(long offset, long pieceBytes) {
        int from = (int) ((offset - base) / unitBytes);
        int count = unitsOf(pieceBytes);
        taken.clear(from, from + count);
        freeUnits += count;
    }

    private int unitsOf(long pieceBytes) {
        return (int) ((pieceBytes + unitBytes - 1) / unitBytes);
    }

    @Override
    public void close() {
        Closeables.inOrder(mmap, memory);
    }
}
