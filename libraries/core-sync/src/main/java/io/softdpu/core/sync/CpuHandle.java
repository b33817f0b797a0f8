package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.spi.Failures;
import io.softdpu.core.spi.Regions;
import io.softdpu.core.spi.memory.Grant;
import io.softdpu.core.spi.memory.MemoryKey;
import io.softdpu.core.spi.memory.ProtectionDomain;
import io.softdpu.core.sync.wire.HandlePage;
import io.softdpu.core.sync.wire.JoinRequest;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.handshake.EndpointListener;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.fabric.link.DoorbellBudget;
import io.softdpu.fabric.link.PacedAction;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.Text;
import java.lang.invoke.VarHandle;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * CPU handle: the counter in memory of this process, and the DPU handles and remote events that
 * have joined. They join and leave on the bus thread, so the program may compute meanwhile. A
 * remote event is a DPU handle that never sleeps.
 *
 * <p>Who wakes whom: an update of this process rings each DPU handle that sleeps. An update of a
 * DPU handle rings its link if this process says so in the handle's page; a thread of this process
 * that sleeps is woken by that link itself. While there are several DPU handles the bus thread
 * serves these links, too, and whichever thread serves a doorbell first wakes all others that the
 * update concerns, in this process and behind the other links.
 */
final class CpuHandle extends EventHandle implements EndpointListener {
    private static final System.Logger LOG = System.getLogger(CpuHandle.class.getName());
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Peer[] NONE = {};
    private static final int RIGHTS =
            AccessFlag.RDMA_READ.bit() | AccessFlag.RDMA_WRITE.bit() | AccessFlag.RDMA_ATOMIC.bit();

    /** Threads that sleep are told once in this time that handles have joined or left. */
    private static final long TELL_INTERVAL_NANOS = 100_000_000;

    /** An update takes nanoseconds, or as long as its thread has no processor. */
    private static final long RELEASE_INTERVAL_NANOS = 10_000_000;

    private final Bus bus;
    private final SharedSegment memory;
    private final boolean ofUser;
    private final IntSupplier serving = this::serveOnBus;

    /** For the doorbells of all peers together. */
    private final DoorbellBudget budget = new DoorbellBudget();

    private volatile Peer[] peers = NONE;

    /** Counts the lists of peers. */
    private volatile long peersVersion;

    /** The peers whose links are listened to by threads that sleep, and their version. */
    private Peer[] heard = NONE;

    private volatile int heardVersion;
    private final PacedAction telling;

    /**
     * Peers that have left and are not released yet, with the version of the first list without
     * each; under the lock.
     */
    private final Map<Peer, Long> retired = new LinkedHashMap<>();

    private final PacedAction releasing;

    /** Peers that have memory of the user mapped until they hang up; under the lock. */
    private final Set<Peer> mapping = new LinkedHashSet<>();

    private RegionAddress.@Nullable Id eventId;

    /** The kinds of importers that may join; under the lock. */
    private final Map<ImportKind, Invited> invited = new EnumMap<>(ImportKind.class);

    /** Keys of the counter, one for each device that exports it for RDMA; under the lock. */
    private final Map<ProtectionDomain, MemoryKey> keys = new HashMap<>();

    /** For the adapters that execute operations of remote events. */
    private final CounterAccess ofAdapters = newAccess();

    private @Nullable Endpoint endpoint;
    private boolean destroyed;

    /** Takes over the memory, unless it is the user's. */
    CpuHandle(Bus bus, SharedSegment memory, boolean ofUser) {
        super(memory);
        this.bus = bus;
        this.memory = memory;
        this.ofUser = ofUser;
        this.telling = bus.paced(TELL_INTERVAL_NANOS, this::tell);
        this.releasing = bus.paced(RELEASE_INTERVAL_NANOS, this::releaseRetired);
    }

    // ---- export ----

    /** Address and key under which importers join. */
    record Invitation(RegionAddress.Id eventId, RegionAddress.Id key) {}

    private record Invited(RegionAddress.Id key, int limit) {}

    /**
     * Lets importers of a kind join.
     *
     * @param limit limit of importers of this kind; that of the first call counts
     * @throws DpuException NOT_SUPPORTED if the memory is exported read-only; IN_USE while
     *     importers hold the memory from an earlier export; OPERATING_SYSTEM
     */
    Invitation invite(ImportKind kind, int limit) {
        synchronized (arming) { // importers join under it too: none comes before its key is known
            RegionAddress.Id present = eventId;
            if (present == null) {
                present = serveName();
                eventId = present;
            }
            Invited importers = invited.computeIfAbsent(kind, _ -> new Invited(randomId(), limit));
            return new Invitation(present, importers.key());
        }
    }

    /**
     * The key by which packets name the counter in the domain of a device, until the close. A
     * remote event may do what the instance of its peer allows.
     */
    MemoryKey keyOf(Device exporting) {
        synchronized (arming) {
            return keys.computeIfAbsent(
                    Regions.domainOf(exporting),
                    domain ->
                            domain.register(
                                    memory.segment().address(),
                                    memory.segment(),
                                    RIGHTS,
                                    new Grant(null),
                                    this::changedByAdapter));
        }
    }

    /**
     * In a batch of packets. Takes the lock if it has rung one of several handles, or while another
     * adapter changes the counter.
     */
    void changedByAdapter() {
        if (!ofAdapters.changed()) {
            synchronized (arming) { // no page of a peer is released meanwhile
                VarHandle.fullFence();
                updated();
            }
        }
    }

    private RegionAddress.Id serveName() {
        RegionAddress.Id id = randomId();
        try {
            memory.requireReleased();
            memory.seal(false);
            endpoint = bus.listen(nameOf(id), this);
        } catch (FabricException e) {
            throw Failures.of(e);
        }
        return id;
    }

    private static RegionAddress.Id randomId() {
        return new RegionAddress.Id(RANDOM.nextLong(), RANDOM.nextLong());
    }

    /** The name under which handles of an event join. */
    static String nameOf(RegionAddress.Id eventId) {
        HexFormat hex = HexFormat.of();
        return "sync:" + hex.toHexDigits(eventId.high()) + hex.toHexDigits(eventId.low());
    }

    /** Lets no further DPU handle join. */
    void endInvitation() {
        Endpoint open;
        synchronized (arming) {
            open = endpoint;
            endpoint = null;
            invited.clear();
        }
        if (open != null) {
            open.close();
        }
    }

    // ---- DPU handles that join and leave; on the bus thread ----

    @Override
    public void arriving(PendingLink pending) {
        Peer peer;
        try {
            peer = accept(pending);
        } catch (DpuException e) {
            pending.refuse(e.status().code(), String.valueOf(e.getMessage()));
            return;
        } catch (FabricException e) {
            LOG.log(System.Logger.Level.DEBUG, () -> "handle did not join: " + e.getMessage());
            return;
        }
        peer.link().onPeerGone(() -> left(peer));
        int _ = serve(); // it may have armed before it was in the list
    }

    /**
     * Sends the memory and adds the peer in one critical section: a close happens before, or sees
     * the peer. Otherwise the user could have memory back that this peer gets.
     *
     * @throws DpuException if it is not invited
     * @throws FabricException if it has gone
     */
    private Peer accept(PendingLink pending) {
        synchronized (arming) {
            ImportKind kind = requireInvited(pending);
            Attachment accepted = pending.accept(JoinRequest.encodeReply(), memory);
            Peer peer = new Peer(kind, bus, accepted.link(), accepted.remote());
            if (ofUser) {
                mapping.add(peer);
                peer.link().onHangUp(() -> hungUp(peer));
            }
            Peer[] more = Arrays.copyOf(peers, peers.length + 1);
            more[peers.length] = peer;
            setPeers(more);
            return peer;
        }
    }

    /** The kind of a client that is invited; under the lock. */
    private ImportKind requireInvited(PendingLink pending) {
        JoinRequest request = JoinRequest.decode(pending.payload());
        if (pending.remoteBytes() != HandlePage.BYTES) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "page of the handle has the wrong size: sizeBytes=%d, expected=%d",
                            pending.remoteBytes(), HandlePage.BYTES));
        }
        for (Map.Entry<ImportKind, Invited> importers : invited.entrySet()) {
            if (importers.getValue().key().equals(request.key())) {
                requireRoom(importers.getKey(), importers.getValue().limit());
                return importers.getKey();
            }
        }
        throw new DpuException(
                Status.NOT_FOUND,
                "sync event is not exported, or the key is wrong: pid=" + pending.peerPid());
    }

    private void requireRoom(ImportKind kind, int limit) {
        int handles = 0;
        for (Peer peer : ofUser ? mapping : List.of(peers)) {
            if (peer.kind() == kind) {
                handles++;
            }
        }
        if (handles >= limit) {
            throw new DpuException(
                    Status.FULL,
                    Text.format(
                            "sync event has all its handles: kind=%s, handles=%d, limit=%d",
                            kind, handles, limit));
        }
    }

    @SuppressWarnings("ReferenceEquality") // peers are compared by identity
    private void left(Peer peer) {
        synchronized (arming) {
            if (!Arrays.asList(peers).contains(peer)) {
                return; // released by the close
            }
            peer.link().stopServingOnBus();
            setPeers(Arrays.stream(peers).filter(each -> each != peer).toArray(Peer[]::new));
            if (!ofUser) {
                retire(peer);
            }
        }
        int _ = serve(); // it may have updated the counter and ended before it rang
    }

    /** A peer has memory of the user mapped no more, unless the bus ends. */
    private void hungUp(Peer peer) {
        synchronized (arming) {
            mapping.remove(peer);
            // A bus that ends closes its side of every link, and never learns when peers hang up:
            // such memory stays held.
            if (!bus.isEnding()) {
                memory.removeHolder(peer.link());
            }
            retire(peer);
        }
    }

    /**
     * Releases a peer that is in the list no more when no update sees an older list; under the
     * lock.
     */
    private void retire(Peer peer) {
        if (destroyed) {
            peer.release();
        } else {
            retired.put(peer, peersVersion);
            releaseRetired();
        }
    }

    private void releaseRetired() {
        synchronized (arming) {
            if (retired.isEmpty()) {
                return; // released by the close, which has unmapped the counter
            }
            long oldest = oldestAnnounced();
            retired.entrySet()
                    .removeIf(each -> {
                        boolean unseen = each.getValue() <= oldest;
                        if (unseen) {
                            each.getKey().release();
                        }
                        return unseen;
                    });
            if (!retired.isEmpty()) {
                releasing.request();
            }
        }
    }

    /** Under the lock. */
    private void setPeers(Peer[] next) {
        long version = peersVersion + 1;
        peers = next;
        peersVersion = version; // after the list
        for (Peer peer : next) {
            peer.setRelayed(next.length > 1);
        }
        telling.request();
        serveLinks();
    }

    /**
     * Lets the threads of this process listen to the present peers. Those that sleep are woken for
     * that, so that they listen to the new links before they sleep again, and end listening to the
     * old. However fast peers join and leave, they cost a program that sleeps one wake-up per
     * interval.
     */
    private void tell() {
        synchronized (arming) {
            if (destroyed || Arrays.equals(heard, peers)) {
                return;
            }
            heard = peers;
            heardVersion++;
            serveLinks();
            sleepers.wakeAll();
        }
    }

    /**
     * Lets the bus thread serve what threads that sleep do not: all links of several, and one that
     * they do not listen to yet. Under the lock.
     */
    private void serveLinks() {
        List<Peer> listenedTo = List.of(heard);
        boolean several = peers.length > 1;
        for (Peer peer : peers) {
            if (several || !listenedTo.contains(peer)) {
                peer.link().serveOnBus(budget, serving);
            } else {
                peer.link().stopServingOnBus();
            }
        }
    }

    // ---- wake-up ----

    @Override
    long peersVersion() {
        return peersVersion;
    }

    @Override
    void wakePeers() {
        Peer[] present = peers;
        if (present.length == 0) {
            return;
        }
        boolean armed = false;
        for (Peer peer : present) {
            armed |= peer.isArmed();
        }
        if (armed) {
            ringPeers(present);
        }
    }

    private void ringPeers(Peer[] present) {
        long value = get();
        boolean rung = false;
        for (Peer peer : present) {
            rung |= peer.ringIfChanged(value);
        }
        if (rung && present.length > 1) {
            synchronized (arming) {
                publishRequests();
            }
        }
    }

    /**
     * Wakes all who have not seen the present value, after a doorbell of a handle that has updated
     * the counter or is about to sleep. Any thread.
     *
     * @return number of those woken: a system call each, at most
     */
    private int serve() {
        synchronized (arming) {
            if (destroyed) {
                return 0;
            }
            int woken = wakeChanged();
            publishRequests();
            return woken + wakeChanged(); // those who have armed, or for whom an update came
        }
    }

    /** After a doorbell, on the bus thread; returns the number of system calls. */
    private int serveOnBus() {
        synchronized (arming) {
            if (destroyed) { // its links stay open until the peers have hung up
                mapping.forEach(peer -> peer.link().stopServingOnBus());
                return mapping.size();
            }
        }
        return serve();
    }

    /** A doorbell has ended the sleep of a thread; on that thread, which needs no other wake-up. */
    private void rung(Sleeper sleeper) {
        sleepers.disarm(sleeper);
        int _ = serve();
    }

    private int wakeChanged() {
        long value = get();
        int woken = sleepers.wakeChanged(value);
        for (Peer peer : peers) {
            if (peer.ringIfChanged(value)) {
                woken++;
            }
        }
        return woken;
    }

    /**
     * Tells each handle whether to ring after an update: if a thread of this process sleeps, or
     * another handle. Under the lock.
     */
    private void publishRequests() {
        boolean here = sleepers.anyArmed();
        int armedPeers = 0;
        Peer armedPeer = null;
        for (Peer peer : peers) {
            if (peer.isArmed()) {
                armedPeers++;
                armedPeer = peer;
            }
        }
        for (Peer peer : peers) {
            peer.setWanted(here || armedPeers > 1 || (armedPeers == 1 && isOther(armedPeer, peer)));
        }
    }

    @SuppressWarnings("ReferenceEquality") // peers are compared by identity
    private static boolean isOther(@Nullable Peer a, Peer b) {
        return a != b;
    }

    @Override
    boolean arm(Sleeper sleeper, long seen) {
        listen(sleeper);
        synchronized (arming) {
            if (!sleeper.links.isOf(heardVersion)) {
                return true; // handles have joined or left: listen to them before the sleep
            }
            sleepers.arm(sleeper, seen);
            publishRequests();
        }
        return get() != seen;
    }

    @Override
    void disarm(Sleeper sleeper) {
        synchronized (arming) {
            sleepers.disarm(sleeper);
            publishRequests();
        }
    }

    @Override
    void refresh(Sleeper sleeper) {
        if (sleeper.links.isUsed() && !sleeper.links.isOf(heardVersion)) {
            listen(sleeper);
        }
    }

    private void listen(Sleeper sleeper) {
        Peer[] present;
        int current;
        synchronized (arming) {
            current = heardVersion;
            if (sleeper.links.isOf(current)) {
                return;
            }
            present = heard;
        }
        sleeper.links.listenTo(present, current, () -> rung(sleeper));
    }

    // ---- end ----

    @Override
    Status ended() {
        return Status.SUCCESS;
    }

    /** Waits for batches of packets outside of the lock, which those may take. */
    private void withdrawKeys() {
        List<MemoryKey> named;
        synchronized (arming) {
            named = new ArrayList<>(keys.values());
        }
        MemoryKey.withdrawAll(named);
        synchronized (arming) {
            keys.clear();
        }
    }

    @Override
    void close() {
        endInvitation();
        withdrawKeys();
        synchronized (arming) {
            destroyed = true;
            if (ofUser) { // which peers may write to until they have hung up
                memory.addHolders(mapping.stream().map(Peer::link).toList());
                mapping.forEach(Peer::endUntilHangUp);
            } else { // a handle that never hangs up would keep its link and page here
                for (Peer peer : peers) {
                    peer.end();
                    peer.release();
                }
            }
            peers = NONE;
            retired.keySet().forEach(Peer::release);
            retired.clear();
        }
        if (!ofUser) {
            bus.release(memory);
        }
    }
}
