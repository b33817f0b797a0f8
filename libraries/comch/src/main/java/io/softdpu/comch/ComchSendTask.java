package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Task that sends one message over a connection (Comm Channel guide, "Control Channel Send Task").
 *
 * <p>The message may be in any memory. It is copied at submission, so the memory may be reused when
 * {@link #trySubmit()} has returned. SUCCESS means that the message was delivered: the peer's
 * receive callback has run. A failure means that it was not delivered, as far as can be known when
 * a peer ends: CONNECTION_RESET if the peer ended, CONNECTION_ABORTED if it did not complete the
 * disconnect within the control timeout.
 *
 * <p>Submission returns AGAIN if the peer's receive queue is full, INVALID_VALUE if no connection
 * is set, the message is longer than the maximum message size, or its memory was closed meanwhile,
 * NOT_CONNECTED if the connection is closed or closing, CONNECTION_RESET if the peer has ended,
 * BAD_STATE if the context is not running. Thread: that of the client's or server's engine.
 */
public sealed interface ComchSendTask extends Task permits SendTask {
    /** The connection that the message goes to; null if none was set. */
    @Nullable ComchConnection connection();

    /**
     * Sets the connection.
     *
     * @throws DpuException INVALID_VALUE if it belongs to another client or server; IN_USE if the
     *     task is in flight
     */
    ComchSendTask setConnection(ComchConnection to);

    /**
     * Sets the message. The bytes are read at submission.
     *
     * @param source any memory that this thread can read
     * @param sourceOffset offset of the message, in bytes
     * @param lengthBytes its length; 0 for an empty message
     * @throws DpuException INVALID_VALUE if the range is not inside the memory, or this thread
     *     cannot read it; IN_USE if the task is in flight
     */
    ComchSendTask setMessage(MemorySegment source, long sourceOffset, int lengthBytes);

    /** Sets the message to a whole array; its bytes are read at submission. */
    ComchSendTask setMessage(byte[] message);

    /** Length of the message in bytes. */
    int length();

    @Override
    ComchSendTask setUserData(long userData);

    @Override
    ComchSendTask setUserObject(@Nullable Object userObject);
}
