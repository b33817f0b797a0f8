package io.softdpu.perf.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.pair.EngineTurns;
import io.softdpu.perf.pair.InactivePeer;
import io.softdpu.perf.pair.PerfSide;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.storage.RdmaCounters;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Common part of both sides of an RDMA measurement: memory, and an RDMA instance with one
 * connection. Belongs to the thread that makes it.
 */
final class RdmaSide {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    /** With the time that the other process has for its end it is less than a signal waits. */
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(2);

    /**
     * Wait before a message is repeated that found no receive. Over a network it is waited in full,
     * and the default would be the longest of the latencies.
     */
    private static final Duration RNR_TIMER = Duration.ofNanos(640_000);

    final RdmaPlan plan;
    final Side side;
    final Rdma rdma;
    final Mmap mmap;
    private final PerfSide<RdmaPlan> base;
    private final MemorySegment segment;
    private final BufInventory inventory;
    private final EngineTurns turns;
    private final @Nullable Requests requests;
    private final @Nullable Receives receives;
    private @Nullable RdmaConnection connection;
    private boolean closing;

    /**
     * Opens all but the connection; the side closes it, also if this fails.
     *
     * @param submits whether this side submits operations
     * @param receives whether operations of the other side complete receives of this one
     */
    RdmaSide(PerfSide<RdmaPlan> base, boolean submits, boolean receives) {
        this.base = base;
        plan = base.plan;
        side = base.side;
        turns = plan.turnsOf(base.engine, plan.waiting());
        SharedMemory memory = base.resources.keep(SharedMemory.allocate(plan.sideBytes()));
        segment = memory.segment();
        mmap = base.resources.keep(Mmap.create());
        mmap.setMemory(memory)
                .setPermissions(rights(plan.operation()))
                .addDevice(base.device)
                .start();
        inventory = base.resources.keep(BufInventory.create(4 * plan.window()));
        inventory.start();
        rdma = Rdma.create(base.device);
        base.resources.keep(this::stopInstance);
        plan.provider().set(rdma, base.device.info());
        if (plan.isExported()) {
            rdma.setPermissions(granted(plan.operation()));
        }
        rdma.setConnectionCallback((_, _, _) -> {}); // its state is asked for
        rdma.setConnectTimeout(Duration.ofNanos(plan.deadlineNanos()));
        rdma.setRnrTimer(RNR_TIMER);
        rdma.setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED); // the deadline ends a measurement
        this.requests = submits ? new Requests(this) : null;
        this.receives = receives ? new Receives(this) : null;
        base.engine.connect(rdma);
        rdma.start();
    }

    private static Permissions rights(RdmaOperation operation) {
        AccessFlag right = operation.right();
        return right == null
                ? Permissions.of(AccessFlag.LOCAL_READ_WRITE)
                : Permissions.of(AccessFlag.LOCAL_READ_WRITE, right);
    }

    private static Permissions granted(RdmaOperation operation) {
        return Permissions.of(Objects.requireNonNull(operation.right(), "exported"));
    }

    // ---- connecting

    /** Exports by which the other side connects and accesses the memory of this one. */
    PeerExport export() {
        RdmaConnection made = rdma.exportConnection();
        connection = made;
        return new PeerExport(
                made.blob(), plan.isExported() ? mmap.exportRdma(base.device) : new byte[0]);
    }

    /** Connects to the other side, which does the same, and prepares the operations. */
    void connect(PeerExport peer) {
        try {
            connect(peer, Objects.requireNonNull(connection, "exported"));
        } finally {
            base.resources.keep(this::stopInstance); // before the bufs of tasks in flight
        }
    }

    private void connect(PeerExport peer, RdmaConnection own) {
        rdma.connect(peer.connection(), own);
        until("connected", () -> own.state() == RdmaConnection.State.CONNECTED);
        if (receives != null) {
            receives.post();
        }
        if (requests != null) {
            Mmap there =
                    plan.isExported()
                            ? base.resources.keep(
                                    Mmap.createFromExport(
                                            peer.memory(),
                                            base.device,
                                            Mapping.ACCESS,
                                            Duration.ofNanos(plan.deadlineNanos())))
                            : null;
            requests.allocate(own, there);
        }
    }

    /** The connection, for messages. */
    @Nullable RdmaConnection peer() {
        return connection;
    }

    /** Counters of the provider for the connection and the device. */
    RdmaCounters counters() {
        RdmaConnection own = connection;
        return own == null
                ? RdmaCounters.NONE
                : new RdmaCounters(own.counters(), rdma.deviceCounters());
    }

    /** A buf of an operation's size that is filled by it. */
    Buf room(Mmap where, long offset) {
        return keep(inventory.bufByAddress(where, offset, plan.sizeBytes()));
    }

    /** A buf of an operation's size whose data it takes. */
    Buf data(Mmap where, long offset) {
        return keep(inventory.bufByData(where, offset, plan.sizeBytes()));
    }

    private Buf keep(Buf buf) {
        base.resources.keep(buf::release);
        return buf;
    }

    Requests requests() {
        return Objects.requireNonNull(requests, "submits");
    }

    @Nullable Receives receives() {
        return receives;
    }

    // ---- memory

    /** The last byte of what the other side writes: a number that each write increases. */
    byte writtenNumber() {
        return (byte) BYTE.getAcquire(segment, plan.peerOffset(side) + plan.sizeBytes() - 1);
    }

    /** Sets the last byte of what this side writes next. */
    void setNumber(byte number) {
        segment.set(ValueLayout.JAVA_BYTE, plan.ownOffset(side) + plan.sizeBytes() - 1, number);
    }

    /** The eight bytes that atomic operations of the other side change. */
    long value() {
        return (long) LONG.getAcquire(segment, plan.peerOffset(side));
    }

    /** Begins a run with 0 in these bytes. */
    void clearValue() {
        LONG.setRelease(segment, plan.peerOffset(side), 0L);
    }

    // ---- the engine

    /**
     * Runs the engine once, waiting as the plan says; returns whether any work was done.
     *
     * @throws DpuException why the measurement is to stop, or CONNECTION_RESET if the peer has gone
     */
    boolean turn() {
        base.stop.check();
        if (turns.turn()) {
            return true;
        }
        requireConnection();
        return false;
    }

    /**
     * Checks that the connection has not ended, where there is one.
     *
     * @throws DpuException why it has
     */
    void requireConnection() {
        RdmaConnection own = connection;
        if (own == null) {
            return;
        }
        switch (own.state()) {
            case EXPORTED, CONNECTING, CONNECTED -> {}
            case DISCONNECTED, FAILED ->
                    throw new DpuException(
                            own.failure() == Status.SUCCESS
                                    ? Status.CONNECTION_RESET
                                    : own.failure(),
                            Text.format(
                                    "connection to the peer has ended: peer=%s, reason=%s",
                                    own, own.failureReason()));
        }
    }

    /** Runs the engine until a condition holds; within the time limit of the setup. */
    void until(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + plan.deadlineNanos();
        while (!condition.getAsBoolean()) {
            turn();
            if (System.nanoTime() - deadline > 0 && !condition.getAsBoolean()) {
                throw InactivePeer.of(base.peerName(), what, plan.deadlineNanos());
            }
        }
    }

    // ---- closing

    /** Whether the instance is being stopped. */
    boolean isClosing() {
        return closing;
    }

    private void stopInstance() {
        if (closing) {
            return;
        }
        closing = true;
        if (requests != null) {
            requests.freeIdle();
        }
        if (rdma.state() != ContextState.IDLE) {
            base.engine.stop(rdma, STOP_TIMEOUT);
        }
        rdma.close();
    }
}
