package io.softdpu.rdma;

import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Task that receives one message of a peer (RDMA guide, receive task) and appends it to the data of
 * the destination. The receive tasks of an instance form one queue for all of its connections, and
 * are consumed in the order of submission.
 *
 * <p>{@link #trySubmit()} fails, and the task still belongs to the user, with: NOT_PERMITTED if the
 * buf's mmap lacks LOCAL_READ_WRITE or the device; INVALID_VALUE if the buf is a list of several;
 * IN_USE if it is in flight. It completes with: TOO_BIG if the message was larger than the
 * tailroom, which ends the connection; CONNECTION_RESET or CONNECTION_ABORTED if the connection
 * ended within the message; CONNECTION_ABORTED if the instance stopped.
 *
 * <p>Thread: that of the engine. From submit to callback the buf must not be touched.
 */
public sealed interface RdmaReceiveTask extends Task permits ReceiveTask {
    /** The buf that the message is appended to; null to receive only empty messages. */
    @Nullable Buf destination();

    /** Sets the buf that the message is appended to; null to receive only empty messages. */
    RdmaReceiveTask setDestination(@Nullable Buf destination);

    /** Length of the message in bytes; valid after success. */
    long resultLength();

    /** The peer's operation; valid after completion, success or not. */
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
