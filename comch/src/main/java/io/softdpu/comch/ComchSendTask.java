package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.spi.TaskBase;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Sends one message over a connection (Comm Channel guide, "Control Channel Send Task").
 *
 * <p>The message may lie in any memory. It is copied at submission, so the memory is the caller's
 * again when {@link #trySubmit()} has returned. A task that completes with SUCCESS has been
 * delivered: the peer's receive callback has run. One that fails has not been delivered, as far as
 * can be known when a peer dies: CONNECTION_RESET if the peer ended, CONNECTION_ABORTED if this
 * side gave up waiting for it.
 *
 * <p>Submission returns AGAIN if the peer's receive queue is full, INVALID_VALUE if there is no
 * connection in the task, the message is longer than the maximum message size, or its memory was
 * closed meanwhile, NOT_CONNECTED if the connection is closed or closing, CONNECTION_RESET if the
 * peer is gone, BAD_STATE if the context is not running. Thread: that of the client's or server's
 * engine.
 */
public final class ComchSendTask extends TaskBase {
    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private final ComchEndpoint endpoint;
    private @Nullable ComchConnection connection;
    private MemorySegment memory = NOTHING;
    private long offset;
    private int length;

    ComchSendTask(ComchEndpoint endpoint) {
        super(endpoint);
        this.endpoint = endpoint;
    }

    /** The connection that the message goes to; null if none was set. */
    public @Nullable ComchConnection connection() {
        return connection;
    }

    /**
     * Sets the connection.
     *
     * @throws DpuException INVALID_VALUE if it belongs to another client or server; IN_USE if the
     *     task is in flight
     */
    public void setConnection(ComchConnection to) {
        requireUser();
        Arguments.notNull(to, "to");
        if (to.endpoint() != endpoint) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "connection of another context: context=%s, connection=%s"
                            .formatted(endpoint, to));
        }
        connection = to;
    }

    /**
     * Sets the message. The bytes are read at submission.
     *
     * @param source any memory that this thread can read
     * @param sourceOffset where the message begins
     * @param lengthBytes its length; 0 is a message too
     * @throws DpuException INVALID_VALUE if the range is not inside the memory, or this thread
     *     cannot read it; IN_USE if the task is in flight
     */
    public void setMessage(MemorySegment source, long sourceOffset, int lengthBytes) {
        requireUser();
        Arguments.readable(source, "source");
        if (sourceOffset < 0 || lengthBytes < 0 || sourceOffset > source.byteSize() - lengthBytes) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "message outside its memory: offset=%d, length=%d, memoryBytes=%d"
                            .formatted(sourceOffset, lengthBytes, source.byteSize()));
        }
        memory = source;
        offset = sourceOffset;
        length = lengthBytes;
    }

    /** Sets the message to a whole array; its bytes are read at submission. */
    public void setMessage(byte[] message) {
        setMessage(MemorySegment.ofArray(Arguments.notNull(message, "message")), 0, message.length);
    }

    /** Length of the message in bytes. */
    public int length() {
        return length;
    }

    @Override
    protected Status onSubmit() {
        ComchConnection to = connection;
        return to == null || !Arguments.isReadable(memory)
                ? Status.INVALID_VALUE
                : to.send(this, memory, offset, length);
    }

    @Override
    protected void onCompleted() {
        endpoint.sendCompleted(this);
    }

    @Override
    protected void onFree() {
        connection = null;
        memory = NOTHING;
        offset = 0;
        length = 0;
    }

    void finish(Status ended) {
        complete(ended);
    }
}
