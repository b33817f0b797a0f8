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
import io.softdpu.linux.text.Reason;
import org.jspecify.annotations.Nullable;

/**
 * Name that this process serves. Clients are accepted on the bus thread; close releases the name
 * and does not affect established links.
 */
public final class Endpoint implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Endpoint.class.getName());

    /**
     * Limit of accepted clients per wake-up, so that a flood on one name does not starve the
     * others.
     */
    private static final int MAX_ACCEPTS_PER_EVENT = 16;

    /**
     * Pause of accepting after the limit of open files of this process, or of epoll watches of its
     * user, was reached.
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
                            + Reason.of(e),
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
                            + serverOf(folder, name)
                            + ", folder="
                            + folder.path()
                            + ", expected=another name, or the end of that process");
        }
        int socket = -1;
        try {
            socket = UnixSocket.create();
            if (listener == null) {
                // A client that requests a region sends no descriptors. Those that the kernel does
                // not refuse are refused when the request is read.
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
     * The process that serves a name, {@code ", pid=NUMBER"}; empty if it has ended meanwhile, or
     * the kernel does not name it.
     */
    private static String serverOf(FabricFolder folder, String name) {
        long pid = folder.server(name);
        return pid > 0 ? ", pid=" + pid : "";
    }

    /** Releases the name; clients without a reply are refused by the end of the socket. */
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

    /** Accepts pending clients. On the bus thread. */
    void accept() {
        for (int i = 0; i < MAX_ACCEPTS_PER_EVENT; i++) {
            if (!threads.closer().hasCapacity()) { // peers keep it busy: accept no more of them
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
        } catch (LinuxException e) { // other processes of this user may release watches
            LOG.log(
                    System.Logger.Level.DEBUG,
                    () -> "name cannot be watched yet: name=" + name + ", " + Reason.of(e));
            retryLater(present);
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

    /** Suspends accepting for a while. On the bus thread. */
    void pause() {
        BusWatch present = place();
        present.unlisten();
        retryLater(present);
    }

    private static void retryLater(BusWatch present) {
        present.setDeadline(System.nanoTime() + EXHAUSTED_PAUSE_NANOS);
    }

    /** Handler of the listening socket. */
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
