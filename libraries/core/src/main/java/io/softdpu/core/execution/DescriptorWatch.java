package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.internal.engine.EngineCore;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.event.Poller;
import io.softdpu.linux.event.Registration;

/**
 * A file descriptor of the program, such as that of a socket, that a progress engine watches: made
 * by {@link ProgressEngine#watch}. The descriptor stays the program's, which closes the watch
 * first.
 *
 * <p>Thread: that of the engine. An engine that closes ends its watches.
 */
public final class DescriptorWatch implements AutoCloseable {
    /** There is something to read, or a connection to accept. */
    public static final int READABLE = Poller.IN;

    /** There is room to write. */
    public static final int WRITABLE = Poller.OUT;

    /** The peer of a socket sends no more. */
    public static final int PEER_CLOSED = Poller.RDHUP;

    /** An error is pending; reported without being asked for. */
    public static final int ERROR = Poller.ERR;

    /** Both directions have ended; reported without being asked for. */
    public static final int HANG_UP = Poller.HUP;

    private static final int INTERESTS = READABLE | WRITABLE | PEER_CLOSED;

    private final EngineCore core;
    private final Registration registration;
    private boolean closed;

    DescriptorWatch(EngineCore core, int descriptor, int interest, DescriptorCallback callback) {
        if (descriptor < 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, "descriptor is negative: descriptor=" + descriptor);
        }
        requireInterest(descriptor, interest);
        this.core = core;
        try {
            this.registration =
                    core.events()
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
                            + " interest=0x%x, descriptor=%d".formatted(interest, descriptor));
        }
    }

    /** The number of the descriptor. Any thread. */
    public int descriptor() {
        return registration.fd();
    }

    /**
     * Changes what the descriptor is watched for, such as {@link #WRITABLE} while there is
     * something to write.
     *
     * @param interest as for {@link ProgressEngine#watch}
     * @throws DpuException INVALID_VALUE if it has other bits; BAD_STATE if the watch or its engine
     *     is closed; NOT_FOUND if the descriptor is; NOT_PERMITTED from another thread
     */
    public void setInterest(int interest) {
        core.requireOwner();
        core.requireOpen();
        if (closed || registration.isEnded()) {
            throw new DpuException(
                    Status.BAD_STATE, "watch is closed: descriptor=" + registration.fd());
        }
        requireInterest(registration.fd(), interest);
        try {
            core.events().setInterest(registration, interest);
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /**
     * Ends the watch: the callback does not run any more, also not for what has been seen already.
     * To be called before the descriptor is closed, since its number may be another file's
     * afterwards. Closing twice does nothing.
     *
     * @throws DpuException NOT_PERMITTED from another thread
     */
    @Override
    public void close() {
        if (!closed) {
            core.requireOwner();
            closed = true;
            registration.remove();
        }
    }
}
