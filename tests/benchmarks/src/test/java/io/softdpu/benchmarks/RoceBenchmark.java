package io.softdpu.benchmarks;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.memory.GrantedMemory;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.adapter.AdapterConfig;
import io.softdpu.rdma.roce.adapter.Management;
import io.softdpu.rdma.roce.rc.Attachment;
import io.softdpu.rdma.roce.rc.Limits;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.rc.PacketSink;
import io.softdpu.rdma.roce.rc.Path;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.rc.ReceiveListener;
import io.softdpu.rdma.roce.rc.RemoteKeys;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Reliable connection between two adapters of RoCE v2, back to back in memory and on one thread,
 * without the ICRC, which {@link RoceIcrcBenchmark} measures. A packet is copied twice: to the
 * datagram, and from it.
 *
 * <p>A send of 64 bytes, from its submission to its completion by the acknowledgement, one at a
 * time and 32 at a time; and a write of 64 KiB, per packet of 4 KiB.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class RoceBenchmark {
    private static final int BATCH = 32;
    private static final int BYTES = 64;
    private static final int MTU = 4096;
    private static final int PACKETS = 16;
    private static final long ADDRESS = 0x10_0000;
    private static final int KEY = 0x11;
    private static final long STEP_NANOS = 1000;

    private final End near = new End(new Gid(0, 0xffff_0a00_0001L));
    private final End far = new End(new Gid(0, 0xffff_0a00_0002L));
    private final WorkRequest[] sends = new WorkRequest[BATCH];
    private final WorkRequest write = new WorkRequest(WorkRequest.Kind.WRITE, near::completed, 1);
    private long nowNanos;

    private static MemorySegment memory(int bytes) {
        return MemorySegment.ofBuffer(ByteBuffer.allocateDirect(bytes));
    }

    /** An adapter with a queue pair, and the datagrams that it has sent. */
    private static final class End
            implements PacketSink, ReceiveListener, Management, GrantedMemory, RemoteMemory {
        private static final int SLOT_BYTES = 4352;
        private static final int SLOTS = 64;

        private final Gid gid;
        private final ByteBuffer view = ByteBuffer.allocateDirect(SLOTS * SLOT_BYTES);
        private final MemorySegment datagrams = MemorySegment.ofBuffer(view);
        private final int[] sizes = new int[SLOTS];
        private final MemorySegment granted = RoceBenchmark.memory(PACKETS * MTU);
        private final WorkRequest[] receives = new WorkRequest[BATCH];
        private final Adapter adapter;
        private final QueuePair pair;
        private int sent;
        private int port;
        private int taken;
        int completed;
        int received;

        End(Gid gid) {
            this.gid = gid;
            for (int i = 0; i < BATCH; i++) {
                receives[i] = new WorkRequest(WorkRequest.Kind.RECEIVE, status -> {}, 1);
                receives[i].local.add(RoceBenchmark.memory(BYTES), 0, BYTES);
                receives[i].lengthBytes = BYTES;
            }
            adapter =
                    new Adapter(
                            new AdapterConfig(gid, 17, 4, 4, Limits.defaults(1)),
                            this,
                            (packet, bytes, high, low, from, identifications) -> true);
            adapter.manage(this);
            RemoteKeys keys =
                    new RemoteKeys() {
                        @Override
                        public int key(RemoteMemory memory) {
                            return KEY;
                        }

                        @Override
                        public long address(RemoteMemory memory) {
                            return ADDRESS;
                        }
                    };
            pair =
                    adapter.create(
                            new Attachment(
                                    this,
                                    () -> receives[taken++ & BATCH - 1],
                                    (key, address, length, right) -> grants(key, address, length),
                                    keys,
                                    new Copier(),
                                    Permissions.of(AccessFlag.RDMA_WRITE),
                                    BATCH,
                                    RnrTimer.LONGEST),
                            null);
        }

        void connect(End peer) {
            pair.connect(
                    new Path(
                            peer.gid,
                            peer.pair.number(),
                            1,
                            1,
                            MTU,
                            1,
                            4,
                            4,
                            Path.DEFAULT_TRANSPORT_RETRIES,
                            Path.DEFAULT_TIMEOUT_NANOS,
                            7),
                    0);
        }

        private GrantedMemory grants(int key, long address, long bytes) {
            boolean inside =
                    key == KEY && address >= ADDRESS && bytes <= ADDRESS + PACKETS * MTU - address;
            return inside ? this : null;
        }

        void submit(WorkRequest request) {
            if (pair.submit(request) != null) {
                throw new IllegalStateException("refused: kind=" + request.kind);
            }
        }

        /** Sends what waits, and delivers it. */
        void exchange(End peer, long nowNanos) {
            adapter.transmit(SLOTS, nowNanos);
            int count = sent;
            sent = 0;
            for (int i = 0; i < count; i++) {
                peer.adapter.receive(
                        datagrams,
                        view,
                        (long) i * SLOT_BYTES,
                        sizes[i],
                        gid.high(),
                        gid.low(),
                        port,
                        false,
                        nowNanos);
            }
            long deadline = adapter.nextDeadline();
            if (deadline != Adapter.NO_DEADLINE && nowNanos - deadline >= 0) {
                adapter.expire(nowNanos, SLOTS);
            }
        }

        @Override
        public boolean isReady() {
            return sent < SLOTS;
        }

        @Override
        public void send(OutgoingPacket packet) {
            long at = (long) sent * SLOT_BYTES;
            MemorySegment.copy(packet.headers(), 0, datagrams, at, packet.headerBytes());
            at += packet.headerBytes();
            for (int i = 0; i < packet.pieces(); i++) {
                MemorySegment.copy(
                        packet.memory(i), packet.offset(i), datagrams, at, packet.length(i));
                at += packet.length(i);
            }
            port = packet.sourcePort();
            sizes[sent] = packet.bytes();
            sent++;
        }

        void completed(Status status) {
            completed++;
        }

        @Override
        public void received(QueuePair queuePair, WorkRequest receive, Status status) {
            received++;
        }

        @Override
        public MemorySegment memory() {
            return granted;
        }

        @Override
        public long address() {
            return ADDRESS;
        }

        @Override
        public int key() {
            return KEY;
        }

        @Override
        public boolean isOf(byte[] gid) {
            return true;
        }

        @Override
        public void changed() {}

        @Override
        public Refusal checkAlive() {
            return null;
        }

        @Override
        public void contacted(QueuePair queuePair, long nowNanos) {}

        @Override
        public void ended(QueuePair queuePair, Status status, String reason, long nowNanos) {
            throw new IllegalStateException(reason);
        }

        @Override
        public void datagram(Packet packet, Gid source, long nowNanos) {}

        @Override
        public long nextDeadline() {
            return Adapter.NO_DEADLINE;
        }

        @Override
        public void expire(long nowNanos, int limit) {}
    }

    @Setup
    public void setUp() {
        near.connect(far);
        far.connect(near);
        for (int i = 0; i < BATCH; i++) {
            sends[i] = new WorkRequest(WorkRequest.Kind.SEND, near::completed, 1);
            sends[i].local.add(memory(BYTES), 0, BYTES);
            sends[i].lengthBytes = BYTES;
        }
        write.local.add(memory(PACKETS * MTU), 0, PACKETS * MTU);
        write.lengthBytes = PACKETS * MTU;
        write.remote = far;
    }

    /** To the acknowledgement. */
    @Benchmark
    public int send() {
        int before = near.completed;
        near.submit(sends[0]);
        return exchange(before + 1);
    }

    /** To their acknowledgement. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int sendSeveral() {
        int before = near.completed;
        for (WorkRequest request : sends) {
            near.submit(request);
        }
        return exchange(before + BATCH);
    }

    /** Per packet; one acknowledgement for all. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public int writePacket() {
        int before = near.completed;
        near.submit(write);
        return exchange(before + 1);
    }

    private int exchange(int completed) {
        nowNanos += STEP_NANOS;
        near.exchange(far, nowNanos);
        far.exchange(near, nowNanos);
        if (near.completed != completed) {
            throw new IllegalStateException(
                    "not completed: completed=" + near.completed + ", expected=" + completed);
        }
        return far.received;
    }
}
