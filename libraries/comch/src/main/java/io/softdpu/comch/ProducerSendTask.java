package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.MemoryRight;
import io.softdpu.core.spi.TaskBase;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The {@link ComchProducerSendTask} of a {@link ProducerContext}. */
final class ProducerSendTask extends TaskBase<ComchProducerSendTask>
        implements ComchProducerSendTask {
    /** The operand, for messages of refusals. */
    static final String SOURCE = "operand=source";

    private final ProducerSends producer;
    private final MemorySegment immediate =
            MemorySegment.ofArray(new byte[FastPathRing.IMMEDIATE_BYTES]);
    private @Nullable Buf buf;
    private int consumerId;
    private int immediateLength;
    private @Nullable AttachedConsumer consumer;
    private long ticket;
    private long targetOffset;
    private @Nullable ProducerSendTask next;
    private Status outcome = Status.SUCCESS;

    ProducerSendTask(ProducerSends producer) {
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

    /** Checks whether the data can be sent: null, or why not. */
    @Nullable Refusal check(MemoryRight right, long maxBytes) {
        Buf source = buf;
        if (source == null || source.references() == 0) {
            return Refusal.of(
                    Status.INVALID_VALUE,
                    "%s: source=%s, expected=a buf in use",
                    source == null ? "task has no buf" : "buf was released",
                    source);
        }
        Mmap mmap = source.mmap();
        if (mmap.isImported()) {
            return Refusal.of(
                    Status.INVALID_VALUE,
                    "data is not in memory of this program: source=%s, expected=a buf in a local"
                            + " mmap",
                    source);
        }
        return source.dataLength() > maxBytes
                ? BufLists.tooMuchData("source", source, maxBytes)
                : Refusal.with(right.check(mmap), SOURCE);
    }

    /** The buf, after {@link #check}. */
    Buf requireBuf() {
        return Objects.requireNonNull(buf, "checked");
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

    /** The one that is copied after this one; null for none. */
    @Nullable ProducerSendTask next() {
        return next;
    }

    void setNext(@Nullable ProducerSendTask newNext) {
        next = newNext;
    }

    /** Completes a claimed buffer with the immediate data, after the data. */
    void commit(Copier copier, FastPathProducer ring, long to, long length, boolean inline) {
        if (immediateLength > 0) {
            copier.message(immediate, 0, ring.segment(), ring.immediateOffset(to), immediateLength);
        }
        ring.commit(to, length, producer.id(), immediateLength, inline);
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
