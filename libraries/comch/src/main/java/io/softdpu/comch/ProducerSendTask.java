package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.TaskBase;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The {@link ComchProducerSendTask} of a {@link ProducerContext}. */
final class ProducerSendTask extends TaskBase<ComchProducerSendTask>
        implements ComchProducerSendTask {
    private final ProducerContext producer;
    private final MemorySegment immediate =
            MemorySegment.ofArray(new byte[FastPathRing.IMMEDIATE_BYTES]);
    private @Nullable Buf buf;
    private int consumerId;
    private int immediateLength;
    private @Nullable AttachedConsumer consumer;
    private long ticket;
    private long targetOffset;
    private Status outcome = Status.SUCCESS;

    ProducerSendTask(ProducerContext producer) {
        super(producer);
        this.producer = producer;
    }

    @Override
    public @Nullable Buf buf() {
        return buf;
    }

    @Override
    public ComchProducerSendTask setBuf(Buf source) {
        requireUser();
        buf = Arguments.notNull(source, "source");
        return this;
    }

    @Override
    public int consumerId() {
        return consumerId;
    }

    @Override
    public ComchProducerSendTask setConsumerId(int id) {
        requireUser();
        if (consumerId != id) {
            consumerId = id;
            consumer = null;
        }
        return this;
    }

    @Override
    public ComchProducerSendTask setImmediate(
            MemorySegment source, long sourceOffset, int lengthBytes) {
        requireUser();
        Arguments.readable(source, "source");
        if (lengthBytes < 0
                || lengthBytes > FastPathRing.IMMEDIATE_BYTES
                || sourceOffset < 0
                || sourceOffset > source.byteSize() - lengthBytes) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "illegal immediate data: offsetBytes=%d, lengthBytes=%d,"
                                    + " memoryBytes=%d, expected=at most %d",
                            sourceOffset,
                            lengthBytes,
                            source.byteSize(),
                            FastPathRing.IMMEDIATE_BYTES));
        }
        MemorySegment.copy(source, sourceOffset, immediate, 0, lengthBytes);
        immediateLength = lengthBytes;
        return this;
    }

    @Override
    public void clearImmediate() {
        requireUser();
        immediateLength = 0;
    }

    @Override
    public int immediateLength() {
        return immediateLength;
    }

    @Override
    protected @Nullable Refusal onSubmit() {
        return producer.send(this);
    }

    @Override
    protected void onCompleted() {
        producer.sendCompleted(this);
    }

    @Override
    protected void onFree() {
        buf = null;
        consumerId = 0;
        immediateLength = 0;
        consumer = null;
    }

    // ---- for the producer ----

    MemorySegment immediate() {
        return immediate;
    }

    /** The consumer that the producer has found for the id; it may be detached. Null for none. */
    @Nullable AttachedConsumer consumer() {
        return consumer;
    }

    /** Keeps what the producer has found for the id. */
    void setConsumer(@Nullable AttachedConsumer found) {
        consumer = found;
    }

    /** Sets the claimed buffer as the destination of a copy in progress. */
    void claimed(AttachedConsumer by, long claimedTicket, long offset) {
        if (consumer != by) { // often the same again, and a load costs less than a store
            consumer = by;
        }
        ticket = claimedTicket;
        targetOffset = offset;
    }

    long ticket() {
        return ticket;
    }

    long targetOffset() {
        return targetOffset;
    }

    /** Sets the result; the callback runs in the next progress. */
    void settle(Status result) {
        if (outcome != result) {
            outcome = result;
        }
    }

    void finish() {
        complete(outcome);
    }

    /** The same with others; false if it has its callback by itself, later. */
    boolean finishWithOthers() {
        return completeWithOthers(outcome);
    }
}
