package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Task that posts a buffer into which one message of a remote producer is written (Comm Channel
 * guide, "Consumer Post Receive Task").
 *
 * <p>The data goes into the buf's tailroom and the data length grows by it. The task completes when
 * a producer has written, in the order of the posts. It fails with IO_FAILED if the producer
 * aborted the message after it had claimed the buffer, with SHUTDOWN if the consumer was stopped,
 * and with CONNECTION_RESET if the connection ended; the buf is unchanged then, but the bytes of
 * its tailroom may have changed.
 *
 * <p>Submission returns INVALID_VALUE if no buf is set, or the buf is a list of several, is not
 * over the consumer's mmap, or has no tailroom; NOT_PERMITTED if it is in a list but not its head;
 * IN_USE if another task has the buf; BAD_STATE if the mmap was stopped; AGAIN if as many buffers
 * are posted as there are tasks. Thread: that of the consumer's engine.
 */
public sealed interface ComchPostReceiveTask extends Task permits PostReceiveTask {
    /** The buf; null if none was set. */
    @Nullable Buf buf();

    /**
     * Sets the buf.
     *
     * @throws DpuException IN_USE if the task is in flight
     */
    ComchPostReceiveTask setBuf(Buf destination);

    /**
     * The id of the producer that wrote, as claimed by the peer; 0 unless the task ended with
     * SUCCESS.
     */
    int producerId();

    /** Bytes that were appended to the buf; 0 unless the task ended with SUCCESS. */
    long receivedLength();

    /** Bytes of immediate data, 0 to 32; 0 unless the task ended with SUCCESS. */
    int immediateLength();

    /**
     * Memory of the immediate data: its first {@link #immediateLength()} bytes are valid until the
     * task is submitted again. Read-only, always the same segment.
     */
    MemorySegment immediate();

    @Override
    ComchPostReceiveTask setUserData(long userData);

    @Override
    ComchPostReceiveTask setUserObject(@Nullable Object userObject);
}
