package io.softdpu.storage.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Reassembles control messages from a byte stream with arbitrary boundaries.
 *
 * <p>Holds at most one incomplete frame, and allocates its buffer only after wire_size has been
 * checked. After a failure the frame boundaries are unknown, so all further calls fail.
 */
public final class FrameAssembler {
    private final ByteBuffer wireSize = ByteBuffer.allocate(ControlCodec.WIRE_SIZE_BYTES);
    private final int maxWireSize;
    private @Nullable ByteBuffer frame;
    private boolean broken;

    /** Creates an assembler at the beginning of a stream. */
    public FrameAssembler() {
        this(ControlCodec.MAX_WIRE_SIZE);
    }

    /**
     * Creates an assembler with a lower limit of the frame size.
     *
     * @param maxWireSize the largest accepted wire_size, at most {@link ControlCodec#MAX_WIRE_SIZE}
     */
    public FrameAssembler(int maxWireSize) {
        this.maxWireSize = Math.min(maxWireSize, ControlCodec.MAX_WIRE_SIZE);
    }

    /**
     * Consumes bytes until a message is complete or no bytes remain.
     *
     * @param bytes received bytes; the position moves past the consumed ones
     * @return the next message, or null if more bytes are needed
     * @throws DpuException INVALID_VALUE for an illegal control message
     */
    public @Nullable ControlMessage feed(ByteBuffer bytes) {
        if (broken) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "stream of control messages is broken: reason=earlier failure");
        }
        if (frame == null) {
            move(bytes, wireSize);
            if (wireSize.hasRemaining()) {
                return null;
            }
            frame = ByteBuffer.allocate(checkedWireSize());
        }
        move(bytes, frame);
        if (frame.hasRemaining()) {
            return null;
        }
        ByteBuffer complete = frame.flip();
        frame = null;
        wireSize.clear();
        broken = true;
        ControlMessage message = ControlCodec.decode(complete);
        broken = false;
        return message;
    }

    /** Whether a frame has begun and is not complete. */
    public boolean isInsideFrame() {
        return frame != null || wireSize.position() > 0;
    }

    private int checkedWireSize() {
        int size = wireSize.getInt(0);
        if (size < ControlCodec.HEADER_BYTES || size > maxWireSize) {
            broken = true;
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "wire size is illegal: wireSizeBytes="
                            + Integer.toUnsignedString(size)
                            + ", expected="
                            + ControlCodec.HEADER_BYTES
                            + " to "
                            + maxWireSize);
        }
        return size;
    }

    private static void move(ByteBuffer from, ByteBuffer to) {
        int count = Math.min(from.remaining(), to.remaining());
        to.put(to.position(), from, from.position(), count);
        to.position(to.position() + count);
        from.position(from.position() + count);
    }
}
