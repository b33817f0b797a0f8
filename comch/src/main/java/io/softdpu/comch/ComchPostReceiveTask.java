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
 * Posts a buffer into which one message of a remote producer is written (Comm Channel guide,
 * "Consumer Post Receive Task").
 *
 * <p>The data goes into the buf's tailroom and the data length grows by it. The task completes when
 * a producer has written, in the order of the posts. It fails with IO_FAILED if the producer gave
 * up in the middle, with SHUTDOWN if the consumer was stopped, and with CONNECTION_RESET if the
 * connection ended; the buf is unchanged then, its tailroom perhaps not.
 *
 * <p>Submission returns INVALID_VALUE if there is no buf, it is a list of several or not of the
 * consumer's mmap, or has no tailroom; NOT_PERMITTED if it is in a list behind its head; IN_USE if
 * another task has the buf; AGAIN if as many are posted as there are tasks. Thread: that of the
 * consumer's engine.
 */
public final class ComchPostReceiveTask extends TaskBase {
    private final ComchConsumer consumer;
    private final byte[] immediateBytes = new byte[FastPathRing.IMMEDIATE_BYTES];
    private final MemorySegment immediate = MemorySegment.ofArray(immediateBytes);
    private final MemorySegment readOnlyImmediate = immediate.asReadOnly();
    private @Nullable Buf buf;
    private long tailOffset;
    private int producerId;
    private long receivedLength;
    private int immediateLength;

    ComchPostReceiveTask(ComchConsumer consumer) {
        super(consumer);
        this.consumer = consumer;
    }

    /** The buf; null if none was set. */
    public @Nullable Buf buf() {
        return buf;
    }

    /**
     * Sets the buf.
     *
     * @throws DpuException IN_USE if the task is in flight
     */
    public void setBuf(Buf destination) {
        requireUser();
        buf = Arguments.notNull(destination, "destination");
    }

    /**
     * The id of the producer that wrote, as the peer says; 0 unless the task ended with SUCCESS.
     */
    public int producerId() {
        return producerId;
    }

    /** Bytes that were appended to the buf; 0 unless the task ended with SUCCESS. */
    public long receivedLength() {
        return receivedLength;
    }

    /** Bytes of immediate data, 0 to 32; 0 unless the task ended with SUCCESS. */
    public int immediateLength() {
        return immediateLength;
    }

    /**
     * Where the immediate data is: the first {@link #immediateLength()} bytes, until the task is
     * submitted again. Read-only, always the same segment.
     */
    public MemorySegment immediate() {
        return readOnlyImmediate;
    }

    @Override
    protected Status onSubmit() {
        return consumer.post(this);
    }

    @Override
    protected void onCompleted() {
        consumer.receiveCompleted(this);
    }

    @Override
    protected String submissionDetails() {
        return BufLists.describe("destination", buf, ComchCapabilities.MAX_LIST_LENGTH);
    }

    @Override
    protected boolean completesInOrder() {
        return true;
    }

    @Override
    protected void onFree() {
        buf = null;
        clearResult();
    }

    // ---- for the consumer ----

    void posted(long offset) {
        tailOffset = offset;
        clearResult();
    }

    long tailOffset() {
        return tailOffset;
    }

    MemorySegment immediateRoom() {
        return immediate;
    }

    void received(int producer, long length, int immediateBytesReceived) {
        producerId = producer;
        receivedLength = length;
        immediateLength = immediateBytesReceived;
    }

    void finish(Status ended) {
        complete(ended);
    }

    private void clearResult() {
        producerId = 0;
        receivedLength = 0;
        immediateLength = 0;
    }
}
