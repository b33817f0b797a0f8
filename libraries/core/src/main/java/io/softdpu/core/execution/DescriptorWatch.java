package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.internal.engine.EngineImpl;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.event.Poller;
import io.softdpu.linux.event.Registration;
import io.softdpu.linux.text.Text;

/**
 * Watch of a progress engine on a file descriptor of the program, such as a socket: created by
 * {@link ProgressEngine#watch}. The descriptor belongs to the program, which closes the watch
 * before it.
 *
 * <p>Thread: that of the engine. An engine that closes ends its watches.
 */
public final class DescriptorWatch implements AutoCloseable {
    /** Data can be read, or a connection accepted. */
    public static final int READABLE = Poller.IN;

    /** Data can be written. */
    public static final int WRITABLE = Poller.OUT;

    /** The peer of a socket sends no more. */
    public static final int PEER_CLOSED = Poller.RDHUP;

    /** An error is pending; always reported. */
    public static final int ERROR = Poller.ERR;

    /** Both directions have ended; always reported. */
    public static final int HANG_UP = Poller.HUP;

    private static final int INTERESTS = READABLE | WRITABLE | PEER_CLOSED;

    private final EngineImpl impl;
    private final Registration registration;
    private boolean closed;

    DescriptorWatch(EngineImpl impl, int descriptor, int interest, DescriptorCallback callback) {
        if (descriptor < 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, "descriptor is negative: descriptor=" + descriptor);
        }
        requireInterest(descriptor, interest);
        this.impl = impl;
        try {
            this.registration =
                    impl.events()
                            .watch(descriptor, interest, events -> callback.onReady(this, events));
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    private static void requireInterest(int descriptor, int interest) {
        if ((interest & ~INTERESTS) != 0) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "interest has other bits than READABLE, WRITABLE and PEER_CLOSED:"
                            + Text.format(" interest=0x%x, descriptor=%d", interest, descriptor));
        }
    }

    /** The number of the descriptor. Any thread. */
    public int descriptor() {
        return registration.fd();
    }

    /**
     * Changes the events that the descriptor is watched for, such as {@link #WRITABLE} while there
     * is data to write.
     *
     * @param interest as for {@link ProgressEngine#watch}
     * @throws DpuException INVALID_VALUE if it has other bits; BAD_STATE if the watch or its engine
     *     is closed; NOT_FOUND if the descriptor is closed; NOT_PERMITTED from another thread
     */
    public DescriptorWatch setInterest(int interest) {
        impl.requireOwner();
        impl.requireOpen();
        if (closed || registration.isEnded()) {
            throw new DpuException(
                    Status.BAD_STATE, "watch is closed: descriptor=" + registration.fd());
        }
        requireInterest(registration.fd(), interest);
        try {
            impl.events().setInterest(registration, interest);
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
        return this;
    }

    /**
     * Ends the watch: the callback does not run any more, not even for events that have been polled
     * already. Call this before closing the descriptor, since its number may be reused afterwards.
     * Idempotent.
     *
     * @throws DpuException NOT_PERMITTED from another thread
     */
    @Override
    public void close() {
        if (!closed) {
            impl.requireOwner();
            closed = true;
            registration.remove();
        }
    }
}
