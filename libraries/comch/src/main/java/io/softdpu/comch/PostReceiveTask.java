package io.softdpu.comch;

import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.TaskBase;
import io.softdpu.fabric.ring.FastPathRing;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The {@link ComchPostReceiveTask} of a {@link ConsumerContext}. */
final class PostReceiveTask extends TaskBase<ComchPostReceiveTask> implements ComchPostReceiveTask {
    private final ConsumerContext consumer;
    private final byte[] immediateBytes = new byte[FastPathRing.IMMEDIATE_BYTES];
    private final MemorySegment immediate = MemorySegment.ofArray(immediateBytes);
    private final MemorySegment readOnlyImmediate = immediate.asReadOnly();
    private @Nullable Buf buf;
    private long tailOffset;
    private int producerId;
    private long receivedLength;
    private int immediateLength;

    PostReceiveTask(ConsumerContext consumer) {
        super(consumer);
        this.consumer = consumer;
    }

    @Override
    public @Nullable Buf buf() {
        return buf;
    }

    @Override
    public ComchPostReceiveTask setBuf(Buf destination) {
        requireUser();
        buf = Arguments.notNull(destination, "destination");
        return this;
    }

    @Override
    public int producerId() {
        return producerId;
    }

    @Override
    public long receivedLength() {
        return receivedLength;
    }

    @Override
    public int immediateLength() {
        return immediateLength;
    }

    @Override
    public MemorySegment immediate() {
        return readOnlyImmediate;
    }

    @Override
    protected @Nullable Refusal onSubmit() {
        return consumer.post(this);
    }

    @Override
    protected void onCompleted() {
        consumer.receiveCompleted(this);
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

    /** Whether it was submitted and its callback has not begun. */
    boolean isPosted() {
        return isInFlight();
    }

    void posted(long offset) {
        tailOffset = offset;
        clearResult();
    }

    long tailOffset() {
        return tailOffset;
    }

    MemorySegment immediateTarget() {
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

    /** The same with others; false if it has its callback by itself, later. */
    boolean finishWithOthers(Status ended) {
        return completeWithOthers(ended);
    }

    private void clearResult() {
        producerId = 0;
        receivedLength = 0;
        immediateLength = 0;
    }
}
