package io.softdpu.block;

import io.softdpu.block.property.BlockProperties;
import io.softdpu.block.spi.MemoryUser;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.Regions;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Check of ranges and memory against the properties of a device. The engine's thread; allocates
 * nothing unless it refuses.
 */
final class RangeCheck {
    private final BlockProperties properties;
    private final long sizeBytes;
    private final long blockMask;
    private final long maxRequestBytes;
    private final long alignmentMask;

    private final MemoryUser memoryUser;

    RangeCheck(BlockProperties properties, MemoryUser memoryUser) {
        this.properties = properties;
        this.memoryUser = memoryUser;
        this.sizeBytes = properties.sizeBytes();
        this.blockMask = properties.blockSizeBytes() - 1L;
        this.maxRequestBytes = properties.maxRequestBytes();
        this.alignmentMask = properties.memoryAlignmentBytes() - 1L;
    }

    /** Checks the range of a task with data: as {@link #range}, and TOO_BIG. */
    @Nullable Refusal request(long offsetBytes, long lengthBytes) {
        if (lengthBytes > maxRequestBytes) {
            return Refusal.of(
                    Status.TOO_BIG,
                    "request is too large: lengthBytes=%d, blockDevice=%s, expected=%d at most",
                    lengthBytes,
                    properties.description(),
                    maxRequestBytes);
        }
        return range(offsetBytes, lengthBytes);
    }

    /** Checks that a range is not empty, in whole blocks, and within the device. */
    @Nullable Refusal range(long offsetBytes, long lengthBytes) {
        if (((offsetBytes | lengthBytes) & blockMask) != 0 || lengthBytes <= 0) {
            return Refusal.of(
                    Status.INVALID_VALUE,
                    "range is not in whole blocks: offsetBytes=%d, lengthBytes=%d, blockDevice=%s,"
                            + " expected=multiples of %d, and a positive length",
                    offsetBytes,
                    lengthBytes,
                    properties.description(),
                    properties.blockSizeBytes());
        }
        if (offsetBytes < 0 || offsetBytes > sizeBytes - lengthBytes) {
            return Refusal.of(
                    Status.INVALID_VALUE,
                    "range is not within the device: offsetBytes=%d, lengthBytes=%d,"
                            + " blockDevice=%s, expected=an end of %d at most",
                    offsetBytes,
                    lengthBytes,
                    properties.description(),
                    sizeBytes);
        }
        return null;
    }

    /** Checks that a buf has a reference, before anything else of it is used. */
    static @Nullable Refusal inUse(String operand, Buf buf) {
        return buf.references() == 0 ? BufLists.released(operand, buf) : null;
    }

    /**
     * Checks that the user of the memory of requests can reach that of a buf, which may be used,
     * until a request has ended.
     */
    @Nullable Refusal reach(Buf buf) {
        return switch (memoryUser) {
            case ENGINE -> null;
            case THREADS -> Regions.checkAnyThread(buf.mmap());
            case KERNEL -> Regions.grantOf(buf.mmap()) == null ? notKept(buf) : null;
        };
    }

    /** Memory of the program, which its mmap does not keep open. */
    private Refusal notKept(Buf buf) {
        return Refusal.of(
                Status.NOT_SUPPORTED,
                "memory is on the heap, or of an arena that may be closed while the kernel uses it:"
                        + " buf=%s, blockDevice=%s, expected=SharedMemory, LocalMemory, or an"
                        + " import",
                buf,
                properties.description());
    }

    /**
     * Checks the alignment of memory that may be used.
     *
     * @param offsetBytes where the bytes are in the memory of the buf's mmap
     */
    @Nullable Refusal alignment(Buf buf, long offsetBytes) {
        if (alignmentMask == 0) {
            return null;
        }
        MemorySegment memory = Regions.segmentOf(buf);
        long address = memory.address() + offsetBytes;
        return (address & alignmentMask) == 0
                ? null
                : Refusal.of(
                        Status.INVALID_VALUE,
                        "memory is not aligned: addressBytes=%d, buf=%s, blockDevice=%s,"
                                + " expected=a multiple of %d",
                        address,
                        buf,
                        properties.description(),
                        properties.memoryAlignmentBytes());
    }
}
