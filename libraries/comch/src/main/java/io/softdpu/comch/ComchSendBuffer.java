package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.memory.Buf;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Send buffer of a stream, which the program fills in place and does not touch after {@link #send}.
 * It belongs to the program from {@link ComchStream#tryClaim()} or {@link ComchStream#claim} until
 * {@link #send}, {@link #close()}, or the end of the stream; the same object is handed out again
 * later, by the next claim at the earliest. Thread: that of the stream's engine.
 *
 * <p>A program that may fail between claim and send claims the buffer in a {@code
 * try}-with-resources statement, and the next one after it.
 */
public final class ComchSendBuffer implements AutoCloseable {
    private final StreamSends sends;
    private final MemorySegment segment;
    private final Buf buf;
    private final ProducerSendTask task;

    /** Null without a sanitizer. */
    private final @Nullable LentMemory lent;

    private boolean claimed;

    ComchSendBuffer(
            StreamSends sends,
            MemorySegment segment,
            Buf buf,
            ProducerSendTask task,
            @Nullable Runnable memoryMisused) {
        this.sends = sends;
        this.segment = segment;
        this.buf = buf;
        this.task = task;
        this.lent = memoryMisused == null ? null : new LentMemory(segment, memoryMisused);
    }

    /**
     * The memory of the whole buffer, valid until {@link #send} or {@link #close()}: bytes that are
     * written later change a message under way, or a later one. It has {@link
     * ComchStream#bufferBytes()} bytes, with those of an earlier message.
     *
     * <p>Always the same segment, whose memory is there until the stream is closed or started
     * again. Under the sanitizer it is another one for each claim, and an access to it after that
     * fails with IllegalStateException.
     */
    public MemorySegment segment() {
        return lent == null ? segment : lent.segment();
    }

    /**
     * Sets the immediate data, which the peer receives beside the message; copied at once. There is
     * none unless it was set since the buffer was claimed.
     *
     * @throws DpuException INVALID_VALUE if it is longer than 32 bytes or not inside the memory, or
     *     this thread cannot read it; BAD_STATE if the program does not have the buffer, or the
     *     stream is not RUNNING
     */
    public ComchSendBuffer setImmediate(MemorySegment source, long sourceOffset, int lengthBytes) {
        sends.requireClaimed(this, "setting immediate data");
        task.setImmediate(source, sourceOffset, lengthBytes);
        return this;
    }

    /**
     * Sends the first bytes of the buffer as a message. If the peer has no buffer for it, it is
     * sent later, in progress.
     *
     * @param lengthBytes length of the message; 0 for an empty one
     * @throws DpuException INVALID_VALUE if the length is not 0 to the buffer size; BAD_STATE if
     *     the program does not have the buffer, or the stream is not RUNNING
     */
    public void send(long lengthBytes) {
        sends.send(this, lengthBytes);
    }

    /**
     * Returns the buffer without sending it. Does nothing if the program does not have it, since it
     * was sent or closed, or the stream has ended.
     *
     * @throws DpuException NOT_PERMITTED from another thread
     */
    @Override
    public void close() {
        sends.close(this);
    }

    // ---- for the stream ----

    ProducerSendTask task() {
        return task;
    }

    Buf buf() {
        return buf;
    }

    boolean isClaimed() {
        return claimed;
    }

    void setClaimed(boolean claimed) {
        if (lent != null) {
            if (claimed) {
                lent.lend();
            } else {
                lent.takeBack();
            }
        }
        this.claimed = claimed;
    }
}
