package io.softdpu.rdma;

import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Takes one message that a peer sends (RDMA guide, receive task): its bytes are appended to the
 * data of the destination. The receives of an instance form one queue for all of its connections,
 * and are used up in the order of submission.
 *
 * <p>{@link #trySubmit()} refuses, and the task stays the user's: NOT_PERMITTED if the buf's mmap
 * lacks LOCAL_READ_WRITE or the device; INVALID_VALUE if the buf is a list of several; IN_USE if it
 * is in flight. It fails with: TOO_BIG if the message was larger than the room behind the data,
 * which ends the connection; CONNECTION_RESET or CONNECTION_ABORTED if the connection ended in the
 * middle of the message; CONNECTION_ABORTED if the instance stopped.
 *
 * <p>Thread: that of the engine. From submit to callback the buf must not be touched.
 */
public sealed interface RdmaReceiveTask extends Task permits ReceiveTask {
    /** The buf that the message is appended to; null if only empty messages are awaited. */
    @Nullable Buf destination();

    /** Chooses the buf that the message is appended to; null if only empty ones are awaited. */
    RdmaReceiveTask setDestination(@Nullable Buf destination);

    /** Length of the message in bytes; valid after success. */
    long resultLength();

    /** What the peer did; valid after completion, success or not. */
    RdmaOpcode resultOpcode();

    /** The connection that the message came on; null if the task ended without a message. */
    @Nullable RdmaConnection resultConnection();
}
