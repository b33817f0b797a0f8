package io.softdpu.comch;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.linux.text.Text;

/**
 * Consumer of the peer as one producer uses it: with the producer's wait for its buffers, and
 * whether a doorbell is due. The thread of the producer's engine.
 */
final class AttachedConsumer {
    private final RemoteConsumer remote;
    private final CreditWaiter waiter;
    private final Refusal noBuffer;
    private boolean violated;
    private boolean detached;
    private boolean usable;
    private boolean doorbellDue;

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

    /** The refusal of a send for which it has posted no buffer, or only for others. */
    Refusal noBuffer() {
        return noBuffer;
    }

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
