package io.softdpu.comch;

import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.copy.SlicedCopy;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.Regions;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sends of one producer that do not fit into the ring, in order: copied to the consumer's memory in
 * slices, the oldest first. The thread of the producer's engine; allocates nothing.
 */
final class LargeSends {
    /**
     * Bytes that a send counts at least with in a pass of progress: a pass copies at most 64
     * messages, as many as a consumer completes.
     */
    private static final long MIN_COUNTED_BYTES = Copier.SLICE_BYTES / 64;

    private final ProducerSends producer;

    /** State of the copy of the oldest send. */
    private final SlicedCopy copy = new SlicedCopy();

    private @Nullable ProducerSendTask oldest;
    private @Nullable ProducerSendTask newest;

    LargeSends(ProducerSends producer) {
        this.producer = producer;
    }

    boolean isEmpty() {
        return oldest == null;
    }

    /**
     * Adds a task with its claimed buffer, which is abandoned if its posting is illegal.
     *
     * @return the peer's violation of the protocol, or null
     */
    @Nullable String add(
            ProducerSendTask task, AttachedConsumer to, long ticket, long lengthBytes) {
        RemoteConsumer remote = to.remote();
        long offset = remote.ring().regionOffset(ticket);
        if (offset < 0 || offset > remote.memory().byteSize() - lengthBytes) {
            remote.ring().abandon(ticket, producer.id());
            return Text.format(
                    "posting outside the memory: offsetBytes=%d, lengthBytes=%d, memoryBytes=%d",
                    offset, lengthBytes, remote.memory().byteSize());
        }
        task.claimed(to, ticket, offset);
        if (newest == null) {
            oldest = task;
        } else {
            newest.setNext(task);
        }
        newest = task;
        return null;
    }

    boolean isCopyingTo(AttachedConsumer consumer) {
        for (ProducerSendTask task = oldest; task != null; task = task.next()) {
            if (task.consumer() == consumer) {
                return true;
            }
        }
        return false;
    }

    /** Copies up to the limit of a pass for all of them. */
    void copySlices(Copier copier) {
        long budgetBytes = Copier.SLICE_BYTES;
        ProducerSendTask task;
        while (budgetBytes > 0 && (task = oldest) != null) {
            budgetBytes -= Math.max(copySlice(task, copier, budgetBytes), MIN_COUNTED_BYTES);
        }
    }

    /** Copies of the oldest send; the number of bytes, 0 if it has failed. */
    private long copySlice(ProducerSendTask task, Copier copier, long budgetBytes) {
        AttachedConsumer target = Objects.requireNonNull(task.consumer(), "claimed");
        RemoteConsumer to = target.remote();
        Buf buf = Objects.requireNonNull(task.buf(), "submitted");
        long length = buf.dataLength();
        boolean ended = producer.failure() != null;
        if (ended || to.revoked()) {
            copy.end();
            to.ring().abandon(task.ticket(), producer.id());
            settle(task, target, ended ? Status.CONNECTION_RESET : to.revokedStatus());
            return 0;
        }
        if (copy.isDone()) { // the copy of the previous send
            copy.begin(
                    Regions.segmentOf(buf),
                    buf.dataOffset(),
                    to.memory(),
                    task.targetOffset(),
                    length);
        }
        long copied = copy.advance(copier, budgetBytes);
        if (copy.isDone()) {
            task.commit(copier, to.ring(), task.ticket(), length, false);
            settle(task, target, Status.SUCCESS);
        }
        return copied;
    }

    private void settle(ProducerSendTask task, AttachedConsumer to, Status status) {
        oldest = task.next();
        if (oldest == null) {
            newest = null;
        }
        task.setNext(null);
        producer.copied(task, to, status);
    }
}
