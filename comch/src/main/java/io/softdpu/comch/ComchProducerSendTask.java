package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.TaskBase;
import io.softdpu.fabric.ring.FastPathRing;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Copies the data of a buf into the next buffer that a consumer of the peer has posted (Comm
 * Channel guide, "Producer Send Task").
 *
 * <p>The task completes with SUCCESS when the data is in the consumer's buffer and the consumer can
 * see it; in the middle of it with SHUTDOWN if the peer took the buffer's memory back, with
 * CONNECTION_RESET if its process ended. The buf itself is never changed.
 *
 * <p>Submission returns AGAIN if the consumer has no buffer posted (try again after a progress;
 * there is no event for it), INVALID_VALUE if there is no buf, it is a list of several, its mmap is
 * imported, or its data is larger than the posted buffer, NOT_PERMITTED if the buf's mmap has not
 * the connection's device or the buf is in a list behind its head, IN_USE if another task has the
 * buf, NOT_FOUND if there is no such consumer now, SHUTDOWN if its mmap was stopped,
 * CONNECTION_RESET if its process has ended. Thread: that of the producer's engine.
 */
public final class ComchProducerSendTask extends TaskBase {
    private final ComchProducer producer;
    private final MemorySegment immediate =
            MemorySegment.ofArray(new byte[FastPathRing.IMMEDIATE_BYTES]);
    private @Nullable Buf buf;
    private int consumerId;
    private int immediateLength;
    private @Nullable RemoteConsumer target;
    private long ticket;
    private long targetOffset;
    private long copied;
    private Status outcome = Status.SUCCESS;

    ComchProducerSendTask(ComchProducer producer) {
        super(producer);
        this.producer = producer;
    }

    /** The buf; null if none was set. */
    public @Nullable Buf buf() {
        return buf;
    }

    /**
     * Sets the buf whose data is sent; no data at all may be sent too.
     *
     * @throws DpuException IN_USE if the task is in flight
     */
    public void setBuf(Buf source) {
        requireUser();
        buf = Arguments.notNull(source, "source");
    }

    /** The id of the consumer. */
    public int consumerId() {
        return consumerId;
    }

    /**
     * Sets the consumer.
     *
     * @throws DpuException IN_USE if the task is in flight
     */
    public void setConsumerId(int id) {
        requireUser();
        consumerId = id;
    }

    /**
     * Sets the immediate data, which the consumer gets beside the data; copied now.
     *
     * @throws DpuException INVALID_VALUE if it is longer than 32 bytes or not inside the memory, or
     *     this thread cannot read it; IN_USE if the task is in flight
     */
    public void setImmediate(MemorySegment source, long sourceOffset, int lengthBytes) {
        requireUser();
        Arguments.readable(source, "source");
        if (lengthBytes < 0
                || lengthBytes > FastPathRing.IMMEDIATE_BYTES
                || sourceOffset < 0
                || sourceOffset > source.byteSize() - lengthBytes) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "illegal immediate data: offset=%d, length=%d, memoryBytes=%d, maximum=%d"
                            .formatted(
                                    sourceOffset,
                                    lengthBytes,
                                    source.byteSize(),
                                    FastPathRing.IMMEDIATE_BYTES));
        }
        MemorySegment.copy(source, sourceOffset, immediate, 0, lengthBytes);
        immediateLength = lengthBytes;
    }

    /** Sends no immediate data. */
    public void clearImmediate() {
        requireUser();
        immediateLength = 0;
    }

    /** Bytes of immediate data. */
    public int immediateLength() {
        return immediateLength;
    }

    @Override
    protected Status onSubmit() {
        return producer.send(this);
    }

    @Override
    protected void onCompleted() {
        producer.sendCompleted(this);
    }

    @Override
    protected String submissionDetails() {
        return BufLists.describe("source", buf, ComchCapabilities.MAX_LIST_LENGTH);
    }

    @Override
    protected void onFree() {
        buf = null;
        consumerId = 0;
        immediateLength = 0;
        target = null;
    }

    // ---- for the producer ----

    MemorySegment immediate() {
        return immediate;
    }

    /** A buffer was claimed: the copy goes there. */
    void claimed(RemoteConsumer remote, long claimedTicket, long offset) {
        if (target != remote) { // mostly the same again, and a look costs less than a store
            target = remote;
        }
        ticket = claimedTicket;
        targetOffset = offset;
        copied = 0;
    }

    @Nullable RemoteConsumer target() {
        return target;
    }

    long ticket() {
        return ticket;
    }

    long targetOffset() {
        return targetOffset;
    }

    long copied() {
        return copied;
    }

    void advance(long bytes) {
        copied += bytes;
    }

    /** The work is done; the callback waits for the next progress. */
    void settle(Status result) {
        if (outcome != result) {
            outcome = result;
        }
    }

    void finish() {
        complete(outcome);
    }
}
