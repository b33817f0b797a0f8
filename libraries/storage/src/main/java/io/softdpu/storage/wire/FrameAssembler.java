package io.softdpu.storage.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Puts control messages together from a stream of bytes that was cut anywhere.
 *
 * <p>Holds at most one unfinished frame, and allocates its room only after wire_size has been
 * checked. After a failure the stream has no known beginning any more: every further call fails.
 */
public final class FrameAssembler {
    private final ByteBuffer wireSize = ByteBuffer.allocate(ControlCodec.WIRE_SIZE_BYTES);
    private final int maxWireSize;
    private @Nullable ByteBuffer frame;
    private boolean broken;

    /** An assembler at the beginning of a stream. */
    public FrameAssembler() {
        this(ControlCodec.MAX_WIRE_SIZE);
    }

    /**
     * An assembler for a stream that is trusted with less room.
     *
     * @param maxWireSize the largest wire_size that it takes, at most {@link
     *     ControlCodec#MAX_WIRE_SIZE}
     */
    public FrameAssembler(int maxWireSize) {
        this.maxWireSize = Math.min(maxWireSize, ControlCodec.MAX_WIRE_SIZE);
    }

    /**
     * Takes bytes until a message is complete or none are left.
     *
     * @param bytes what came; its position moves past what was taken
     * @return the next message, or null where more bytes are needed
     * @throws DpuException INVALID_VALUE where the bytes are no control message
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
                    "wire_size is illegal: wire_size="
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
