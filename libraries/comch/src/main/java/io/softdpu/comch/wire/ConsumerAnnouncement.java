package io.softdpu.comch.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.wire.RegionAddress;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Payload of {@link MessageType#CONSUMER_NEW}: addresses of a consumer's ring and of its receive
 * memory.
 *
 * <pre>
 *   0  slots     u32   of the ring: a power of two
 *   4  reserved  u32   zero
 *   8  ring      80 B  region address
 *  88  memory    80 B  region address
 * </pre>
 *
 * @param slots of the fast path ring, a power of two up to {@link ChannelLimits#MAX_POSTED_BUFFERS}
 * @param ring region that holds the ring
 * @param memory region into which the producers write
 */
public record ConsumerAnnouncement(int slots, RegionAddress ring, RegionAddress memory) {
    /** Size of the encoded form. */
    public static final int WIRE_BYTES = 8 + 2 * RegionAddress.WIRE_BYTES;

    private static final int RESERVED_OFFSET = 4;
    private static final int RING_OFFSET = 8;
    private static final int MEMORY_OFFSET = RING_OFFSET + RegionAddress.WIRE_BYTES;
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Rejects a slot count that is out of range or not a power of two. */
    public ConsumerAnnouncement {
        if (slots < 1 || slots > ChannelLimits.MAX_POSTED_BUFFERS || Integer.bitCount(slots) != 1) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "consumer announcement refused: slots="
                            + slots
                            + ", expected=a power of two up to "
                            + ChannelLimits.MAX_POSTED_BUFFERS);
        }
    }

    /** Writes {@link #WIRE_BYTES} bytes. */
    public void encode(MemorySegment bytes, long offset) {
        bytes.set(U32, offset, slots);
        bytes.set(U32, offset + RESERVED_OFFSET, 0);
        ring.encode(bytes, offset + RING_OFFSET);
        memory.encode(bytes, offset + MEMORY_OFFSET);
    }

    /**
     * Reads an announcement from private memory.
     *
     * @throws DpuException INVALID_VALUE if the length is wrong or a field is illegal
     */
    public static ConsumerAnnouncement decode(MemorySegment bytes, long offset, int lengthBytes) {
        if (lengthBytes != WIRE_BYTES || bytes.byteSize() - offset < WIRE_BYTES) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "consumer announcement refused: lengthBytes="
                            + lengthBytes
                            + ", expected="
                            + WIRE_BYTES);
        }
        int reserved = bytes.get(U32, offset + RESERVED_OFFSET);
        if (reserved != 0) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "consumer announcement refused: reserved=" + reserved + ", expected=0");
        }
        try {
            return new ConsumerAnnouncement(
                    bytes.get(U32, offset),
                    RegionAddress.decode(bytes, offset + RING_OFFSET),
                    RegionAddress.decode(bytes, offset + MEMORY_OFFSET));
        } catch (FabricException e) {
            throw new DpuException(
                    Status.INVALID_VALUE, "consumer announcement refused: " + e.getMessage(), e);
        }
    }
}
