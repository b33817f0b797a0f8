package io.softdpu.fabric.region;

import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.Origins;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Memory that this process lets others import, until it is revoked. A re-export passes on the
 * descriptor of an import and ends with it.
 *
 * <p>Any thread; leases come and go on the bus thread.
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
    private final Set<Lease> leases = new HashSet<>();
    private final List<Runnable> whenLetGo = new ArrayList<>();
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
        if (Origins.RECORDED) {
            Origins.opened(originName());
        }
    }

    private String originName() {
        return "region " + address.busId() + "/" + address.regionId();
    }

    /** What an importer needs; whoever has it can import, so it goes to the intended peer only. */
    public RegionAddress address() {
        return address;
    }

    /** Whether importers may write. */
    public boolean writable() {
        return writable;
    }

    /** Peers that hold the region now. */
    public synchronized int leases() {
        return leases.size();
    }

    /** Whether {@link #revoke()} has happened, or that of the region this is a re-export of. */
    public boolean revoked() {
        synchronized (this) {
            if (revoked) {
                return true;
            }
        }
        return parent != null && parent.revoked();
    }

    /**
     * Lets no further peer in; those that hold the region keep it. Called by a listener for its
     * first lease this makes a region that has one peer for all its life.
     */
    public synchronized void refuseFurther() {
        refusesFurther = true;
    }

    synchronized boolean refusesFurther() {
        return refusesFurther;
    }

    /**
     * Withdraws the region: each importer's next use fails, and no new one gets in. Returns at
     * once; the memory counts as kept back ({@link Exports#keptBackBytes()}), and cannot be
     * exported again, until the last lease has closed.
     */
    public void revoke() {
        revoke(false);
    }

    /** For a re-export: {@link #revoke()}, telling importers that the first exporter has ended. */
    void exporterEnded() {
        revoke(true);
    }

    private void revoke(boolean exporterEnded) {
        Set<Lease> open;
        List<Runnable> due = List.of();
        synchronized (this) {
            if (revoked) {
                return;
            }
            revoked = true;
            if (exporterEnded) {
                generation.exporterEnded();
            } else {
                generation.withdraw();
            }
            open = Set.copyOf(leases);
            if (memory != null && !open.isEmpty()) {
                exports.keepBack(address.sizeBytes());
                memory.keptBy(open.stream().map(Lease::link).toList());
            }
            if (open.isEmpty()) {
                generation.page().release(threads);
                due = List.copyOf(whenLetGo);
                whenLetGo.clear();
            }
        }
        due.forEach(Runnable::run);
        open.forEach(lease -> lease.link().shutdownOutput());
        exports.remove(this);
        if (Origins.RECORDED) {
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
         * @param descriptors that go with it; open while this runs
         * @return false if the importer has gone
         */
        boolean send(Frame.Grant grant, int... descriptors);
    }

    /**
     * Gives an importer the region, until it hangs up; one that has gone, or for which the region
     * has, finds its link closed. On the bus thread, before anybody else has the link.
     */
    public void lend(Link link, GrantSender sender) {
        Lease lease = new Lease(link);
        link.onHangUp(() -> closed(lease));
        if (!open(lease, sender)) {
            link.close();
        }
    }

    /**
     * Sends the grant and counts the lease, as one step. A revocation comes before, or finds the
     * lease; in between, an importer would have memory that nobody knows it has, and the
     * descriptors could be closed and their numbers stand for something else.
     *
     * @return false if the region has gone, or the importer
     */
    private boolean open(Lease lease, GrantSender sender) {
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
        // The lease stands, whatever the listener makes of it: the socket is the link's by now.
        tell(to -> to.leaseOpened(lease));
        return true;
    }

    /** On the bus thread, when the importer's end has closed. */
    private void closed(Lease lease) {
        List<Runnable> due = List.of();
        synchronized (this) {
            if (!leases.remove(lease)) {
                return;
            }
            // A bus that ends takes its side of every link down, and never learns when importers
            // let go: such memory stays as it is, for good.
            if (memory != null && revoked && !threads.ending()) {
                memory.letGoBy(lease.link());
            }
            if (revoked && leases.isEmpty()) {
                if (memory != null && !threads.ending()) {
                    exports.keepBack(-address.sizeBytes());
                }
                generation.page().release(threads);
                due = List.copyOf(whenLetGo);
                whenLetGo.clear();
            }
        }
        due.forEach(Runnable::run);
        lease.link().close();
        tell(to -> to.leaseClosed(lease));
    }

    /** Runs the callback when nobody holds the revoked region any more; at once if that is so. */
    void onLetGo(Runnable callback) {
        synchronized (this) {
            if (!revoked || !leases.isEmpty()) {
                whenLetGo.add(callback);
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
                LOG.log(System.Logger.Level.WARNING, "lease listener failed: " + e, e);
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
