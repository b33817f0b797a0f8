package io.softdpu.comch;

import io.softdpu.core.Status;

/**
 * Consumer of the peer as one producer uses it: with the producer's wait for its buffers, and
 * whether a doorbell is due. The thread of the producer's engine.
 */
final class AttachedConsumer {
    private final RemoteConsumer remote;
    private final CreditWaiter waiter;
    private boolean violated;
    private boolean usable;
    private boolean doorbellDue;

    /** Takes ownership of a reference to the consumer. */
    AttachedConsumer(RemoteConsumer remote, CreditWaiter waiter) {
        this.remote = remote;
        this.waiter = waiter;
    }

    RemoteConsumer remote() {
        return remote;
    }

    /** The producer's wait for buffers of this consumer. */
    CreditWaiter waiter() {
        return waiter;
    }

    /**
     * Whether it may be sent to: looked up once per pass of progress. An end that is noticed one
     * pass later is the same to users as one that comes later: until the release of the reference
     * its memory can be written.
     */
    boolean isUsable() {
        if (!usable) {
            usable = !violated && !remote.unusable();
        }
        return usable;
    }

    /** The status of a send, if it is not usable. */
    Status unusableStatus() {
        return violated ? Status.CONNECTION_RESET : remote.unusableStatus();
    }

    /** The peer has violated the protocol: nothing more is sent until the connection ends. */
    void violated() {
        violated = true;
        usable = false;
    }

    /** A pass of progress begins. */
    void passBegins() {
        usable = false;
    }

    /** A message was sent; whether no doorbell was due before. */
    boolean sent() {
        boolean first = !doorbellDue;
        doorbellDue = true;
        return first;
    }

    /** Wakes the consumer's engine if it sleeps and a doorbell is due. */
    void ringIfDue() {
        if (doorbellDue) {
            doorbellDue = false;
            remote.ringIfArmed();
        }
    }

    /** Whether {@link #ringIfDue} has something to do. */
    boolean isDoorbellDue() {
        return doorbellDue;
    }
}
