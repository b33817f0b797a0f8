package io.softdpu.rdma;

import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Task that receives one message of a peer (RDMA guide, receive task) and appends it to the data of
 * the destination, a list of bufs: their tailrooms are filled one after the other. A write with
 * immediate of a peer completes one, too, and leaves the destination as it is. The receive tasks of
 * an instance form one queue for all of its connections, and are consumed in the order of
 * submission.
 *
 * <p>{@link #trySubmit()} fails, and the task still belongs to the user, with: NOT_PERMITTED if the
 * mmap of a buf lacks LOCAL_READ_WRITE or the device; INVALID_VALUE if the list is longer than
 * {@link Rdma#receiveBufferListLength()}; IN_USE if it is in flight; AGAIN if the receive queue is
 * full. It completes with: TOO_BIG if the message was larger than the tailroom or {@link
 * RdmaCapabilities#maxMessageBytes()} of the device, which ends the connection; CONNECTION_RESET or
 * CONNECTION_ABORTED if the connection ended within the message; CONNECTION_ABORTED if the instance
 * stopped.
 *
 * <p>Thread: that of the engine. From submit to callback the buf must not be touched.
 */
public sealed interface RdmaReceiveTask extends Task permits ReceiveTask {
    /**
     * The list that the message is appended to, by its head; null to receive only empty messages
     * and writes with immediate.
     */
    @Nullable Buf destination();

    /**
     * Sets the list that the message is appended to, by its head; null to receive only empty
     * messages and writes with immediate.
     */
    RdmaReceiveTask setDestination(@Nullable Buf destination);

    /**
     * Number of bytes of the peer's operation; valid after success. Those of a write with immediate
     * are in the memory that was written.
     */
    long resultLength();

    /**
     * The immediate value of the peer's operation; valid after success, 0 for an operation without
     * one.
     */
    int resultImmediate();

    /**
     * The peer's operation; valid after completion, success or not, if there was one: {@link
     * #resultConnection()} is null otherwise.
     */
    RdmaOpcode resultOpcode();

    /**
     * The connection that the message was received on; null if the task ended without a message.
     */
    @Nullable RdmaConnection resultConnection();

    @Override
    RdmaReceiveTask setUserData(long userData);

    @Override
    RdmaReceiveTask setUserObject(@Nullable Object userObject);
}
