package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.memory.Buf;
import java.lang.foreign.MemorySegment;

/**
 * Send buffer of a stream, which the program fills in place and sends. It belongs to the program
 * from {@link ComchStream#tryClaim()} or {@link ComchStream#claim} until {@link #send} or {@link
 * #cancel()}; the same object is handed out again later. Thread: that of the stream's engine.
 */
public final class ComchSendBuffer {
    private final StreamSends sends;
    private final MemorySegment segment;
    private final Buf buf;
    private final ProducerSendTask task;
    private boolean claimed;

    ComchSendBuffer(StreamSends sends, MemorySegment segment, Buf buf, ProducerSendTask task) {
        this.sends = sends;
        this.segment = segment;
        this.buf = buf;
        this.task = task;
    }

    /**
     * The memory of the whole buffer, always the same segment: {@link ComchStream#bufferBytes()}
     * bytes, with those of an earlier message. Invalid once the stream is closed or started again.
     */
    public MemorySegment segment() {
        return segment;
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
     * Returns the buffer without sending it.
     *
     * @throws DpuException BAD_STATE if the program does not have the buffer, or the stream is not
     *     RUNNING
     */
    public void cancel() {
        sends.cancel(this);
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
        this.claimed = claimed;
    }
}
