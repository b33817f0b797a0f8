package io.softdpu.fabric.thread;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.LinuxException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Threads of a bus, which start and end with it: the {@linkplain BusLoop bus thread}, {@linkplain
 * MappingWorkers mapping workers} and {@linkplain DescriptorCloser closing threads}.
 *
 * <p>Any thread.
 */
public final class BusThreads {
    /** Time limit of a closing bus for unmapping: enough for 20 GiB and more. */
    private static final long UNMAPPING_TIMEOUT_NANOS = 10_000_000_000L;

    /** Time limit of a closing bus for closing the descriptors of peers. */
    private static final long CLOSING_TIMEOUT_NANOS = 1_000_000_000L;

    private static final System.Logger LOG = System.getLogger(BusThreads.class.getName());

    private final Path folder;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final DescriptorCloser closer = new DescriptorCloser();
    private final MappingWorkers workers = new MappingWorkers();
    private final BusLoop loop = new BusLoop();

    /**
     * Creates the threads without starting them.
     *
     * @param folder of the bus, for messages
     * @throws LinuxException if this process has no descriptors left
     */
    public BusThreads(Path folder) {
        this.folder = folder;
    }

    /**
     * Starts the permanent threads.
     *
     * @throws OutOfMemoryError if one cannot be started
     */
    public void start() {
        workers.start();
        loop.start();
    }

    /** Releases their resources after the bus thread could not be started. */
    public void abandon() {
        loop.abandon();
        boolean _ = workers.end(UNMAPPING_TIMEOUT_NANOS);
    }

    /** The bus thread. */
    public BusLoop loop() {
        return loop;
    }

    /** Workers that map and unmap memory, which may take long. */
    public MappingWorkers workers() {
        return workers;
    }

    /** Closer of descriptors chosen by peers, on threads that a peer may block. */
    public DescriptorCloser closer() {
        return closer;
    }

    /**
     * Marks the bus as closed.
     *
     * @return whether this call marked it, so that its caller closes the rest
     */
    public boolean beginClose() {
        return closed.compareAndSet(false, true);
    }

    /** Ends the bus thread, after the commands given so far, and then the mapping workers. */
    public void endWork() {
        loop.shutdown();
        if (!workers.end(UNMAPPING_TIMEOUT_NANOS)) {
            LOG.log(System.Logger.Level.WARNING, "memory is not unmapped yet: folder=" + folder);
        }
    }

    /** Ends the closing threads; after {@link #endWork}, which still hands over descriptors. */
    public void endClosing() {
        if (!closer.end(CLOSING_TIMEOUT_NANOS)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "descriptors of peers are not closed yet: folder=" + folder);
        }
    }

    /** Whether the bus has been closed. */
    public boolean closed() {
        return closed.get();
    }

    /** Whether links end because the bus does, by its close or by a failure of its thread. */
    public boolean ending() {
        return closed.get() || loop.ending();
    }

    /** Throws CLOSED once the bus has been closed, and SYSTEM once its thread has failed. */
    public void requireOpen() {
        if (closed.get()) {
            throw new FabricException(FabricException.Kind.CLOSED, "bus closed: folder=" + folder);
        }
        if (loop.ending()) { // nothing would answer a request any more
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "bus thread has failed: folder=" + folder + ", expected=a new machine");
        }
    }
}
