package io.softdpu.comch;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.linux.text.Text;

/**
 * Consumer of the peer as one producer uses it: with the producer's claims of its buffers, its wait
 * for them, and whether a doorbell is due. The thread of the producer's engine.
 */
final class AttachedConsumer {
    private final RemoteConsumer remote;
    private final CreditWaiter waiter;
    private final Refusal noBuffer;
    private boolean violated;
    private boolean detached;
    private boolean usable;
    private boolean doorbellDue;

    // Results of the last claim(Task[], ...), beside what it returns.
    private long firstTicket;
    private int claimedCount;

    /** Takes ownership of a reference to the consumer. */
    AttachedConsumer(RemoteConsumer remote, CreditWaiter waiter) {
        this.remote = remote;
        this.waiter = waiter;
        int id = remote.id();
        this.noBuffer =
                Refusal.ready(
                        Status.AGAIN,
                        () ->
                                Text.format(
                                        "consumer has posted no buffer for this producer:"
                                            + " consumerId=%d, buffers=0, expected=a posted receive"
                                            + " task",
                                        id));
    }

    RemoteConsumer remote() {
        return remote;
    }

    /** The producer's wait for buffers of this consumer. */
    CreditWaiter waiter() {
        return waiter;
    }

    /**
     * Whether messages can be sent to it: looked up once per pass of progress, and after a send
     * that found no buffer. An end that is noticed one pass later is the same to users as one that
     * comes later: until the release of the reference its memory can be written.
     */
    boolean isUsable() {
        if (!usable) {
            usable = !violated && !detached && !remote.unusable();
        }
        return usable;
    }

    /** The refusal of a send, if it is not usable. */
    Refusal unusable() {
        Status status = violated ? Status.CONNECTION_RESET : remote.unusableStatus();
        String reason =
                switch (status) {
                    case NOT_FOUND -> "consumer has stopped";
                    case SHUTDOWN -> "consumer has revoked its memory";
                    default ->
                            violated
                                    ? "peer violated the protocol of the fast path"
                                    : "process of the consumer has ended";
                };
        return Refusal.of(
                status,
                "%s: consumerId=%d, expected=one of ComchConnection.remoteConsumers()",
                reason,
                remote.id());
    }

    // ---- claims ----

    /**
     * Claims a buffer, unless those posted are kept for others; as {@link FastPathProducer#claim}.
     */
    long claim(long lengthBytes) {
        return waiter.mayClaim() ? remote.ring().claim(lengthBytes) : FastPathRing.NO_BUFFER;
    }

    /**
     * Claims buffers for the first of the tasks: {@link #claimedCount} of them, from {@link
     * #firstTicket} on.
     *
     * @return why not for the next, as {@link FastPathProducer#claim}; 0 or more if for all
     */
    long claim(Task[] tasks, int from, int end) {
        claimedCount = 0;
        if (from == end || !waiter.mayClaim()) {
            return from == end ? 0 : FastPathRing.NO_BUFFER;
        }
        FastPathProducer ring = remote.ring();
        while (true) {
            long first = ring.nextTicket();
            long found = first;
            int fitting = from;
            while (fitting < end) {
                long length = ((ProducerSendTask) tasks[fitting]).requireBuf().dataLength();
                found = ring.check(first, first + (fitting - from), length);
                if (found < 0) {
                    break;
                }
                fitting++;
            }
            int count = fitting - from;
            if (found != FastPathRing.TAKEN && (count == 0 || ring.claim(first, first + count))) {
                firstTicket = first;
                claimedCount = count;
                return found;
            }
        }
    }

    long firstTicket() {
        return firstTicket;
    }

    int claimedCount() {
        return claimedCount;
    }

    /** The refusal of a send for which it has posted no buffer, or only for others. */
    Refusal noBuffer() {
        return noBuffer;
    }

    /** The refusal of a send that does not fit into its next buffer. */
    Refusal tooLarge(Buf buf) {
        long capacity = remote.ring().refusedCapacityBytes();
        return Refusal.of(
                Status.INVALID_VALUE,
                "data length %d > %d: consumerId=%d, source=%s, expected=%d bytes at most, the next"
                        + " buffer of the consumer",
                buf.dataLength(),
                capacity,
                remote.id(),
                buf,
                capacity);
    }

    /** The refusal of a send while it stops. */
    Refusal closing() {
        return Refusal.of(
                Status.NOT_FOUND,
                "consumer is stopping: consumerId=%d, expected=one of"
                        + " ComchConnection.remoteConsumers()",
                remote.id());
    }

    // ---- its end, and doorbells ----

    /** The peer has violated the protocol: nothing more is sent until the connection ends. */
    void violated() {
        violated = true;
        usable = false;
    }

    /** The producer uses it no more: its reference to the consumer is released. */
    void detached() {
        detached = true;
        usable = false;
    }

    /** The next send looks up again whether it may be sent to. */
    void lookAgain() {
        usable = false;
    }

    /** A message was sent: its doorbell is due. */
    void sent() {
        doorbellDue = true;
    }

    /** Wakes the consumer's engine if it sleeps and a doorbell is due. */
    void ringIfDue() {
        if (doorbellDue) {
            doorbellDue = false;
            remote.ringIfArmed();
        }
    }
}
