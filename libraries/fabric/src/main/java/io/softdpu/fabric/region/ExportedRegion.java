package io.softdpu.fabric.region;

import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.Origins;
import io.softdpu.linux.text.Reason;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Memory of this process that other processes may import until it is revoked. A re-export sends the
 * descriptor of an import and ends with it.
 *
 * <p>Any thread; leases begin and end on the bus thread.
 */
public final class ExportedRegion implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(ExportedRegion.class.getName());

    private final BusThreads threads;
    private final Exports exports;
    private final RegionAddress address;
    private final boolean writable;
    private final @Nullable SharedSegment memory;
    private final @Nullable ImportedRegion parent;
    private final @Nullable LeaseListener listener;
    private final GenerationPage generation;

    /** The links to the importers. */
    private final Set<Link> leases = new HashSet<>();

    private final List<Runnable> releaseCallbacks = new ArrayList<>();
    private boolean revoked;
    private boolean refusesFurther;

    ExportedRegion(
            BusThreads threads,
            Exports exports,
            RegionAddress address,
            boolean writable,
            @Nullable SharedSegment memory,
            @Nullable ImportedRegion parent,
            @Nullable LeaseListener listener) {
        this.threads = threads;
        this.exports = exports;
        this.address = address;
        this.writable = writable;
        this.memory = memory;
        this.parent = parent;
        this.listener = listener;
        this.generation = GenerationPage.create();
        if (Origins.isRecorded()) {
            Origins.opened(originName());
        }
    }

    private String originName() {
        return "region " + address.busId() + "/" + address.regionId();
    }

    /**
     * The address for importers. Any process that has it can import, so pass it to the intended
     * peer only.
     */
    public RegionAddress address() {
        return address;
    }

    /** Whether importers may write. */
    public boolean writable() {
        return writable;
    }

    /** Number of leases. */
    public synchronized int leases() {
        return leases.size();
    }

    /** Whether the region was revoked, or the one that this is a re-export of. */
    public boolean revoked() {
        synchronized (this) {
            if (revoked) {
                return true;
            }
        }
        return parent != null && parent.revoked();
    }

    /**
     * Refuses further leases; existing ones continue. Called by a listener for the first lease,
     * this limits the region to one peer for its lifetime.
     */
    public synchronized void refuseFurther() {
        refusesFurther = true;
    }

    synchronized boolean refusesFurther() {
        return refusesFurther;
    }

    /**
     * Revokes the region: each importer's next use fails, and no further lease is granted. Returns
     * at once; the memory counts as retained ({@link Exports#retainedBytes()}), and cannot be
     * exported again, until the last lease has ended.
     */
    public void revoke() {
        revoke(false);
    }

    /** Revokes a re-export because the original exporter has ended, which its importers can see. */
    void exporterEnded() {
        revoke(true);
    }

    private void revoke(boolean exporterEnded) {
        Set<Link> open;
        List<Runnable> due = List.of();
        synchronized (this) {
            if (revoked) {
                return;
            }
            revoked = true;
            if (exporterEnded) {
                generation.exporterEnded();
            } else {
                generation.revoke();
            }
            open = Set.copyOf(leases);
            if (memory != null && !open.isEmpty()) {
                exports.addRetained(address.sizeBytes());
                memory.addHolders(open);
            }
            if (open.isEmpty()) {
                generation.page().release(threads);
                due = List.copyOf(releaseCallbacks);
                releaseCallbacks.clear();
            }
        }
        due.forEach(Runnable::run);
        open.forEach(Link::shutdownOutput);
        exports.remove(this);
        if (Origins.mayBeRecorded()) {
            Origins.closes(originName());
        }
        if (memory != null) {
            memory.release(threads);
        }
    }

    /** The same as {@link #revoke()}. */
    @Override
    public void close() {
        revoke();
    }

    /** Descriptors of a grant: the memory, then the generation pages, outermost first. */
    private int[] descriptors() {
        if (memory != null) {
            return new int[] {memory.descriptor(), generation.descriptor()};
        }
        ImportedRegion from = parentOrThrow();
        return new int[] {
            from.descriptor(), from.generation().descriptor(), generation.descriptor()
        };
    }

    private Frame.Grant grant() {
        long own = generation.expected();
        long[] generations =
                memory != null
                        ? new long[] {own}
                        : new long[] {parentOrThrow().generation().expected(), own};
        return new Frame.Grant(address.sizeBytes(), writable, generations);
    }

    /** Sends a grant to an importer. */
    @FunctionalInterface
    public interface GrantSender {
        /**
         * Sends without blocking.
         *
         * @param descriptors sent with the grant; open while this runs
         * @return false if the importer has gone
         */
        boolean send(Frame.Grant grant, int... descriptors);
    }

    /**
     * Grants a lease to an importer until it hangs up; closes the link if the importer has gone or
     * the region was revoked. On the bus thread, before any other code has the link.
     */
    public void grantLease(Link lease, GrantSender sender) {
        lease.onHangUp(() -> closed(lease));
        if (!open(lease, sender)) {
            lease.close();
        }
    }

    /**
     * Sends the grant and adds the lease in one critical section: a revocation happens before, or
     * sees the lease. Otherwise an importer could have memory without a lease, and descriptor
     * numbers could be reused before they are sent.
     *
     * @return false if the region was revoked or the importer has gone
     */
    private boolean open(Link lease, GrantSender sender) {
        synchronized (this) {
            if (revoked) {
                return false;
            }
            // Never waits: the socket is non-blocking, and has carried nothing yet.
            if (!sender.send(grant(), descriptors())) {
                return false;
            }
            leases.add(lease);
        }
        // The lease holds even if the listener throws: the socket belongs to the link by now.
        tell(to -> to.leaseOpened(lease));
        return true;
    }

    /** Ends a lease. On the bus thread, when the importer has hung up. */
    private void closed(Link lease) {
        List<Runnable> due = List.of();
        synchronized (this) {
            if (!leases.remove(lease)) {
                return;
            }
            // A bus that ends closes its side of every link, and never learns when importers
            // hang up: such memory stays retained.
            if (memory != null && revoked && !threads.ending()) {
                memory.removeHolder(lease);
            }
            if (revoked && leases.isEmpty()) {
                if (memory != null && !threads.ending()) {
                    exports.addRetained(-address.sizeBytes());
                }
                generation.page().release(threads);
                due = List.copyOf(releaseCallbacks);
                releaseCallbacks.clear();
            }
        }
        due.forEach(Runnable::run);
        lease.close();
        tell(to -> to.leaseClosed(lease));
    }

    /** Runs the callback when the region is revoked and has no leases; at once if that is so. */
    void onReleased(Runnable callback) {
        synchronized (this) {
            if (!revoked || !leases.isEmpty()) {
                releaseCallbacks.add(callback);
                return;
            }
        }
        callback.run();
    }

    private void tell(Consumer<LeaseListener> call) {
        if (listener != null) {
            try {
                call.accept(listener);
            } catch (RuntimeException e) {
                LOG.log(System.Logger.Level.WARNING, "lease listener failed: " + Reason.of(e), e);
            }
        }
    }

    private ImportedRegion parentOrThrow() {
        if (parent == null) {
            throw new IllegalStateException("region has neither memory nor parent");
        }
        return parent;
    }
}
