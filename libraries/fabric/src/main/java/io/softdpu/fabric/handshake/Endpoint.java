package io.softdpu.fabric.handshake;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.folder.FabricFolder;
import io.softdpu.fabric.thread.BusLoop;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.thread.BusWatch;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.Socket;
import io.softdpu.linux.UnixSocket;
import io.softdpu.linux.event.Poller;
import org.jspecify.annotations.Nullable;

/**
 * A name that this process serves. Clients are accepted on the bus thread; closing gives the name
 * back and leaves established links alone.
 */
public final class Endpoint implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Endpoint.class.getName());

    /** Clients of one wake-up, so that a flood on one name does not starve the others. */
    private static final int ACCEPTS_AT_ONCE = 16;

    /**
     * How long accepting pauses when this process has no room for further descriptors, or its user
     * none for further watches.
     */
    private static final long EXHAUSTED_PAUSE_NANOS = 50_000_000;

    private static final int BACKLOG = 128;

    private final Handshakes handshakes;
    private final BusThreads threads;
    private final String name;
    private final int lock;
    private final int socket;
    private final @Nullable EndpointListener listener;
    private @Nullable BusWatch watch;
    private boolean closed;

    private Endpoint(
            Handshakes handshakes,
            String name,
            int lock,
            int socket,
            @Nullable EndpointListener listener) {
        this.handshakes = handshakes;
        this.threads = handshakes.threads();
        this.name = name;
        this.lock = lock;
        this.socket = socket;
        this.listener = listener;
    }

    /** Binds a name; without a listener the endpoint answers requests for regions. */
    static Endpoint open(Handshakes handshakes, String name, @Nullable EndpointListener listener) {
        try {
            return bind(handshakes, name, listener);
        } catch (LinuxException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "name cannot be served: name="
                            + name
                            + ", folder="
                            + handshakes.folder().path()
                            + ", "
                            + e.getMessage(),
                    e);
        }
    }

    private static Endpoint bind(
            Handshakes handshakes, String name, @Nullable EndpointListener listener) {
        FabricFolder folder = handshakes.folder();
        int lock = folder.claim(name);
        if (lock < 0) {
            throw new FabricException(
                    FabricException.Kind.IN_USE,
                    "name is served by a living process: name="
                            + name
                            + ", folder="
                            + folder.path());
        }
        int socket = -1;
        try {
            socket = UnixSocket.create();
            if (listener == null) {
                // Who asks for a region has nothing to give. What the kernel does not refuse is
                // refused when the request is read.
                boolean _ = UnixSocket.refuseDescriptors(socket);
            }
            UnixSocket.bind(socket, folder.socketAddress(name));
            Socket.listen(socket, BACKLOG);
            Endpoint endpoint = new Endpoint(handshakes, name, lock, socket, listener);
            handshakes.threads().loop().execute(endpoint::watch);
            return endpoint;
        } catch (RuntimeException e) {
            if (socket >= 0) {
                FileDescriptors.close(socket);
            }
            folder.release(name, lock);
            throw e;
        }
    }

    /**
     * Gives the name back; clients that have not been answered are refused by the end of the
     * socket.
     */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        // Socket and name go at once, so that the name can be served again when this returns; the
        // descriptor goes on the bus thread, which may be accepting from it now.
        handshakes.folder().release(name, lock);
        handshakes.endpointClosed(this);
        threads.loop()
                .execute(() -> {
                    if (watch != null) {
                        watch.end();
                    }
                    threads.closer().closeListener(socket);
                });
    }

    /** Accepts clients that wait. On the bus thread. */
    void accept() {
        for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
            if (!threads.closer().hasRoom()) { // peers keep it busy: nobody may bring it more
                pause();
                return;
            }
            int accepted;
            try {
                accepted = Socket.accept(socket);
            } catch (LinuxException e) {
                pauseIfExhausted(e);
                return;
            }
            if (accepted < 0) {
                return;
            }
            if (!IncomingHandshake.begin(handshakes, accepted, listener)) {
                threads.loop().execute(this::pause); // between handlers, in the same turn
                return;
            }
        }
    }

    /** Watches the socket, or tries again later. On the bus thread. */
    void watch() {
        synchronized (this) {
            if (closed) {
                return;
            }
        }
        BusWatch present = place();
        try {
            present.listen(socket, Poller.IN);
        } catch (LinuxException e) { // others of this user may give watches back
            LOG.log(
                    System.Logger.Level.DEBUG,
                    () -> "name cannot be watched yet: name=" + name + ", " + e.getMessage());
            waitForRoom(present);
        }
    }

    private BusWatch place() {
        BusWatch present = watch;
        if (present == null) {
            present = threads.loop().join(new Clients());
            watch = present;
        }
        return present;
    }

    /** A full descriptor table would turn the level-triggered wake-up into a spin. */
    private void pauseIfExhausted(LinuxException e) {
        if (e.errno() != Errno.EMFILE && e.errno() != Errno.ENFILE && e.errno() != Errno.ENOMEM) {
            throw e;
        }
        pause();
    }

    /** Accepts nobody for a while. On the bus thread. */
    void pause() {
        BusWatch present = place();
        present.unlisten();
        waitForRoom(present);
    }

    private static void waitForRoom(BusWatch present) {
        present.setDeadline(System.nanoTime() + EXHAUSTED_PAUSE_NANOS);
    }

    /** Waits for clients. */
    private final class Clients implements BusLoop.Handler {
        @Override
        public void onEvents(int events) {
            accept();
        }

        @Override
        public void onDeadline() {
            watch();
        }

        @Override
        public void onShutdown() {
            close();
        }
    }
}
