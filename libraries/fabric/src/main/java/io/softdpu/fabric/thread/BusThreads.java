package io.softdpu.fabric.thread;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.LinuxException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The threads of a bus, which start and end with it: the {@linkplain BusLoop bus thread},
 * {@linkplain MappingWorkers mapping workers} and {@linkplain DescriptorCloser closing threads}.
 *
 * <p>Any thread.
 */
public final class BusThreads {
    /** How long a bus that closes waits for memory to be unmapped: 20 GiB and more. */
    private static final long UNMAPPING_PATIENCE_NANOS = 10_000_000_000L;

    /** How long a bus that closes waits for descriptors of peers to be closed. */
    private static final long CLOSER_PATIENCE_NANOS = 1_000_000_000L;

    private static final System.Logger LOG = System.getLogger(BusThreads.class.getName());

    private final Path folder;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final DescriptorCloser closer = new DescriptorCloser();
    private final MappingWorkers workers = new MappingWorkers();
    private final BusLoop loop = new BusLoop();

    /**
     * Makes the threads without starting them.
     *
     * @param folder of the bus, for messages
     * @throws LinuxException if this process has no descriptors left
     */
    public BusThreads(Path folder) {
        this.folder = folder;
    }

    /**
     * Starts the threads that there always are.
     *
     * @throws OutOfMemoryError if one cannot be started
     */
    public void start() {
        workers.start();
        loop.start();
    }

    /** Gives back what they hold where the bus thread could not be started. */
    public void abandon() {
        loop.abandon();
        boolean _ = workers.end(UNMAPPING_PATIENCE_NANOS);
    }

    /** The bus thread. */
    public BusLoop loop() {
        return loop;
    }

    /** Maps and unmaps, on threads that may take their time. */
    public MappingWorkers workers() {
        return workers;
    }

    /** Closes what a peer has chosen, on threads that it may keep. */
    public DescriptorCloser closer() {
        return closer;
    }

    /**
     * Marks the bus as closed.
     *
     * @return whether this call did it, so that its caller closes the rest
     */
    public boolean beginClose() {
        return closed.compareAndSet(false, true);
    }

    /** Ends the bus thread, after the commands given so far, and then the mapping workers. */
    public void endWork() {
        loop.shutdown();
        if (!workers.end(UNMAPPING_PATIENCE_NANOS)) {
            LOG.log(System.Logger.Level.WARNING, "memory is not unmapped yet: folder=" + folder);
        }
    }

    /** Ends the closing threads; after {@link #endWork}, which still brings them descriptors. */
    public void endClosing() {
        if (!closer.end(CLOSER_PATIENCE_NANOS)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "descriptors of peers are not closed yet: folder=" + folder);
        }
    }

    /** Whether the bus has been closed. */
    public boolean closed() {
        return closed.get();
    }

    /** Whether links go because the bus does, be it closed or for want of its thread. */
    public boolean ending() {
        return closed.get() || loop.ending();
    }

    /** Throws CLOSED once the bus has been closed. */
    public void requireOpen() {
        if (closed.get()) {
            throw new FabricException(FabricException.Kind.CLOSED, "bus closed: folder=" + folder);
        }
    }
}
