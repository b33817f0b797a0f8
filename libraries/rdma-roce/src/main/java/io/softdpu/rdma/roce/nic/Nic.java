package io.softdpu.rdma.roce.nic;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.memory.AccessBatches;
import io.softdpu.linux.Errno;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.UdpSocket;
import io.softdpu.linux.text.Reason;
import io.softdpu.rdma.roce.cm.ConnectionManager;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Network adapter of this process at a local address: one for all its machines. {@link #open} and
 * {@link #release} count its users.
 *
 * <p>It has a thread from the first {@link #start} on, which drives it while no program {@linkplain
 * #drive does}. Before, a task runs on the thread that gives it, one at a time; afterwards on the
 * thread of the NIC. What peers send before waits in the socket. Any thread.
 */
public final class Nic {
    private static final System.Logger LOG = System.getLogger(Nic.class.getName());

    private static final Map<Gid, Nic> OPEN = new HashMap<>();
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Attempts to find a free port besides that of RoCE v2. */
    private static final int PORT_ATTEMPTS = 64;

    /** Limit of the wait for the thread of the NIC, which is busy for a batch at a time. */
    private static final long TASK_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final Gid address;
    private final NicOptions options;
    private final UdpSocket socket;
    private final int receiveBufferBytes;
    private final NicLoop loop;

    private final Supplier<String> portHolder;

    /** Guarded by {@link #OPEN}. */
    private int users;

    // Guarded by this object.
    private @Nullable Thread thread;
    private boolean closed;

    private Nic(Gid address, UdpSocket socket, NicOptions options) {
        this.address = address;
        this.socket = socket;
        this.options = options;
        receiveBufferBytes =
                granted(
                        "net.core.rmem_max",
                        NicOptions.DEFAULTS.receiveBufferBytes(),
                        options.receiveBufferBytes(),
                        socket.setReceiveBuffer(options.receiveBufferBytes()));
        int _ =
                granted(
                        "net.core.wmem_max",
                        NicOptions.DEFAULTS.sendBufferBytes(),
                        options.sendBufferBytes(),
                        socket.setSendBuffer(options.sendBufferBytes()));
        portHolder = new PortHolder.Search(address);
        loop = new NicLoop(gid(), socket, options, RANDOM);
    }

    /**
     * The size that the system has granted; a warning if it is less than what was asked for, unless
     * that is the default.
     */
    private int granted(String limit, int defaultBytes, int wantedBytes, int grantedBytes) {
        if (grantedBytes < wantedBytes && wantedBytes != defaultBytes) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "system has granted a smaller buffer: address="
                            + address
                            + ", grantedBytes="
                            + grantedBytes
                            + ", expected="
                            + wantedBytes
                            + ", limit="
                            + limit);
        }
        return grantedBytes;
    }

    /**
     * The NIC of an address, opened if there is none; the caller {@linkplain #release releases} it.
     * Waits for the end of one that is closing, which has the port until then.
     *
     * @param address whose port does not count
     * @param options of a NIC that is opened; one that is open keeps its own
     * @throws DpuException NOT_FOUND if it is no local address; OPERATING_SYSTEM, NO_MEMORY
     */
    public static Nic open(Gid address, NicOptions options) {
        while (true) {
            Nic closing;
            synchronized (OPEN) {
                Nic nic = OPEN.get(address);
                if (nic == null) {
                    nic = create(address, options);
                    OPEN.put(address, nic);
                }
                if (!nic.isClosed()) {
                    nic.users++;
                    return nic;
                }
                closing = nic;
            }
            closing.awaitEnd();
        }
    }

    private static Nic create(Gid address, NicOptions options) {
        UdpSocket socket = socket(address);
        boolean made = false;
        try {
            Nic nic = new Nic(address, socket, options);
            made = true;
            return nic;
        } catch (LinuxException e) {
            throw failure(address, e);
        } finally {
            if (!made) {
                socket.close();
            }
        }
    }

    /**
     * Checks that an address is a local one.
     *
     * @throws DpuException NOT_FOUND if it is not; OPERATING_SYSTEM
     */
    public static void requireLocal(Gid address) {
        open(address).close();
    }

    /**
     * A socket at an address, with any port.
     *
     * @throws DpuException as {@link #requireLocal}
     */
    static UdpSocket open(Gid address) {
        try {
            return UdpSocket.open(new InetSocketAddress(inet(address), 0));
        } catch (LinuxException e) {
            throw failure(address, e);
        }
    }

    private static UdpSocket socket(Gid address) {
        int port = Headers.UDP_PORT;
        for (int attempt = 0; ; attempt++) {
            try {
                return UdpSocket.open(new InetSocketAddress(inet(address), port));
            } catch (LinuxException e) {
                if (e.errno() != Errno.EADDRINUSE || attempt == PORT_ATTEMPTS) {
                    throw failure(address, e);
                }
            }
            port = RANDOM.nextInt(Gid.FIRST_OTHER_PORT, Gid.FIRST_FLOW_PORT);
        }
    }

    private static InetAddress inet(Gid address) {
        try {
            return InetAddress.getByAddress(address.addressBytes());
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("no address: gid=" + address, e);
        }
    }

    static DpuException failure(Gid address, LinuxException e) {
        return switch (e.errno()) {
            // EINVAL of a link-local address, EAFNOSUPPORT where the kernel has no IPv6
            case Errno.EADDRNOTAVAIL, Errno.EINVAL, Errno.EAFNOSUPPORT ->
                    new DpuException(
                            Status.NOT_FOUND,
                            "address of the device is none of this machine: address="
                                    + address
                                    + ", expected=an address of a network interface, or in"
                                    + " 127.0.0.0/8",
                            e);
            case Errno.EMFILE, Errno.ENFILE, Errno.ENOMEM, Errno.ENOBUFS ->
                    new DpuException(
                            Status.NO_MEMORY,
                            "NIC of the device cannot be opened: address="
                                    + address
                                    + ", failure="
                                    + Reason.of(e),
                            e);
            default ->
                    new DpuException(
                            Status.OPERATING_SYSTEM,
                            "NIC of the device cannot be opened: address="
                                    + address
                                    + ", failure="
                                    + Reason.of(e),
                            e);
        };
    }

    /** Releases it; the last user closes it, after the end of its connections. */
    public void release() {
        synchronized (OPEN) {
            users--;
            if (users > 0) {
                return;
            }
            if (!stop()) {
                OPEN.remove(address);
                loop.close();
                return;
            }
        }
        awaitEnd(); // of what it still sends: the NICs of other addresses are not to wait for that
    }

    /** Has its thread end; returns whether it has one. */
    private synchronized boolean stop() {
        closed = true;
        if (thread == null) {
            return false;
        }
        loop.stop();
        return true;
    }

    /** Waits until the thread of a NIC that is closing has ended, and forgets the NIC. */
    private void awaitEnd() {
        Thread ending;
        synchronized (this) {
            ending = thread;
        }
        if (ending != null) {
            join(ending);
        }
        synchronized (OPEN) {
            boolean _ = OPEN.remove(address, this);
        }
    }

    /** The address of a NIC that is open, the lowest as text; empty if none is. */
    public static Optional<String> anyOpen() {
        synchronized (OPEN) {
            return OPEN.keySet().stream().map(Gid::toString).min(Comparator.naturalOrder());
        }
    }

    /** The NICs that have a thread. */
    static List<Nic> running() {
        synchronized (OPEN) {
            return OPEN.values().stream().filter(Nic::isRunning).toList();
        }
    }

    private synchronized boolean isRunning() {
        return thread != null && !closed;
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    // ---- what it is ----

    /** Its address, with the port of its socket. */
    public Gid gid() {
        return address.withPort(socket.localAddress().getPort());
    }

    /**
     * The holder of the port of RoCE v2 at its address, for a message: {@code process PID}. It is
     * looked for once, when it is asked for; also after the end of the NIC.
     */
    public Supplier<String> portHolder() {
        return portHolder;
    }

    /** With which it was opened. */
    public NicOptions options() {
        return options;
    }

    /** Size of the buffer in which packets wait for it. */
    public int receiveBufferBytes() {
        return receiveBufferBytes;
    }

    /** A snapshot of what it has counted, by name in a fixed order; its thread makes it. */
    public SequencedMap<String, Long> counters() {
        SequencedMap<String, Long> counts = new LinkedHashMap<>();
        run(() -> loop.count(counts));
        return counts;
    }

    /** Batches of packets in which it accesses memory by key. */
    public AccessBatches batches() {
        return loop.batches();
    }

    Copier copier() {
        return loop.copier();
    }

    ConnectionManager manager() {
        return loop.manager();
    }

    SendFailures sendFailures() {
        return loop.sendFailures();
    }

    NicLoop loop() {
        return loop;
    }

    void add(NicEndpoint endpoint) {
        loop.add(endpoint);
    }

    void remove(NicEndpoint endpoint) {
        loop.remove(endpoint);
    }

    // ---- its thread ----

    /**
     * Has it driven from now on, by its thread and by programs.
     *
     * @throws DpuException NO_MEMORY if the system has no thread or no descriptor for it
     */
    void start() {
        synchronized (this) {
            if (thread == null && !closed) {
                try {
                    loop.prepare();
                } catch (LinuxException e) {
                    throw failure(address, e);
                }
                Thread made =
                        Thread.ofPlatform().daemon().name("softdpu-nic-" + gid()).unstarted(loop);
                try {
                    made.start();
                } catch (OutOfMemoryError e) { // so a limit of threads is reported
                    throw new DpuException(
                            Status.NO_MEMORY,
                            "thread of the NIC cannot be started: address="
                                    + gid()
                                    + ", failure="
                                    + Reason.of(e),
                            e);
                }
                thread = made;
            }
        }
    }

    /**
     * Runs a task on its thread, and waits for the end.
     *
     * @throws DpuException of the task; TIME_OUT if it has not begun, and will not, or does not
     *     end; SHUTDOWN if the thread has ended
     */
    void run(Runnable task) {
        run(task, TASK_NANOS);
    }

    void run(Runnable task, long timeoutNanos) {
        FutureTask<@Nullable Void> handed = new FutureTask<>(task, null);
        synchronized (this) {
            if (thread == null) {
                task.run();
                return;
            }
            loop.post(handed);
        }
        await(handed, timeoutNanos);
    }

    private void await(FutureTask<@Nullable Void> handed, long timeoutNanos) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    handed.get(timeoutNanos, TimeUnit.NANOSECONDS);
                    return;
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    if (handed.cancel(false)) { // else it has just ended
                        throw new DpuException(
                                Status.TIME_OUT,
                                "thread of the NIC does not answer: address="
                                        + gid()
                                        + ", timeoutMillis="
                                        + TimeUnit.NANOSECONDS.toMillis(timeoutNanos),
                                e);
                    }
                } catch (CancellationException e) {
                    throw new DpuException(
                            Status.SHUTDOWN, "thread of the NIC has ended: address=" + gid(), e);
                } catch (ExecutionException e) {
                    switch (e.getCause()) {
                        case RuntimeException thrown -> throw thrown;
                        case Error thrown -> throw thrown;
                        case null, default -> throw new IllegalStateException("task failed", e);
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Runs a task on its thread, later; without a thread at once. */
    void post(Runnable task) {
        synchronized (this) {
            if (thread == null) {
                task.run();
            } else {
                loop.post(task);
            }
        }
    }

    /** Drives it; see {@link NicLoop#drive}. */
    void drive(NicEndpoint driver, boolean handsOver) {
        loop.drive(driver, handsOver);
    }

    /** Number of defects that it has met; of its thread. */
    long failures() {
        return loop.failures();
    }

    private static void join(Thread running) {
        boolean interrupted = false;
        while (running.isAlive()) {
            try {
                running.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
