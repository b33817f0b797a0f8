package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Task that copies the data of a buf into the next buffer that a consumer of the peer has posted
 * (Comm Channel guide, "Producer Send Task").
 *
 * <p>The task completes with SUCCESS when the data is in the consumer's buffer and visible to the
 * consumer. It fails with SHUTDOWN if the peer revoked the buffer's memory during the copy, with
 * CONNECTION_RESET if its process ended. The buf itself is never changed.
 *
 * <p>Submission returns AGAIN if the consumer has no buffer posted: one that is posted later is an
 * event, so that a progress reports work, and a wait ends; submit again then. It returns
 * INVALID_VALUE if no buf is set, it is a list of several, its mmap is imported, or its data is
 * larger than the posted buffer, NOT_PERMITTED if the buf's mmap lacks the connection's device or
 * the buf is in a list but not its head, IN_USE if another task has the buf, NOT_FOUND if the peer
 * has no such consumer, SHUTDOWN if its mmap was stopped, CONNECTION_RESET if its process has
 * ended. Thread: that of the producer's engine.
 */
public sealed interface ComchProducerSendTask extends Task permits ProducerSendTask {
    /** The buf; null if none was set. */
    @Nullable Buf buf();

    /**
     * Sets the buf whose data is sent; a buf without data sends an empty message.
     *
     * @throws DpuException IN_USE if the task is in flight
     */
    ComchProducerSendTask setBuf(Buf source);

    /** The id of the consumer. */
    int consumerId();

    /**
     * Sets the consumer.
     *
     * @throws DpuException IN_USE if the task is in flight
     */
    ComchProducerSendTask setConsumerId(int id);

    /**
     * Sets the immediate data, which the consumer receives beside the data; copied at once.
     *
     * @throws DpuException INVALID_VALUE if it is longer than 32 bytes or not inside the memory, or
     *     this thread cannot read it; IN_USE if the task is in flight
     */
    ComchProducerSendTask setImmediate(MemorySegment source, long sourceOffset, int lengthBytes);

    /** Removes the immediate data. */
    void clearImmediate();

    /** Bytes of immediate data. */
    int immediateLength();

    @Override
    ComchProducerSendTask setUserData(long userData);

    @Override
    ComchProducerSendTask setUserObject(@Nullable Object userObject);
}
