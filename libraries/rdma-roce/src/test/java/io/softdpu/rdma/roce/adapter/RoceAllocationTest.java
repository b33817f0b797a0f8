package io.softdpu.rdma.roce.adapter;

import io.softdpu.core.Status;
import io.softdpu.rdma.roce.rc.Limits;
import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.rc.PacketSink;
import io.softdpu.rdma.roce.rc.Path;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.simulation.TestHost;
import io.softdpu.rdma.roce.simulation.TestMemory;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import io.softdpu.testkit.AllocationMeter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shows that packets, requests and timers allocate nothing. */
class RoceAllocationTest {
    private static final int BYTES = 10_000;

    /** Datagrams on their way from one adapter to the other. */
    private final class Cable implements PacketSink {
        private static final int SLOTS = 64;

        private final Gid from;
        private final PacketWriter writer;
        private final MemorySegment memory =
                Arena.ofAuto().allocate((long) SLOTS * Headers.MAX_PACKET_BYTES, 8);
        private final ByteBuffer view = memory.asByteBuffer();
        private final int[] sizes = new int[SLOTS];
        private int port;
        private int count;
        private boolean broken;

        Cable(Gid from) {
            this.from = from;
            writer = new PacketWriter(from);
        }

        @Override
        public boolean isReady() {
            return count < SLOTS;
        }

        @Override
        public void send(OutgoingPacket packet) {
            port = packet.sourcePort();
            sizes[count] =
                    writer.write(packet, memory, view, (long) count * Headers.MAX_PACKET_BYTES);
            count++;
        }

        boolean deliver(Adapter to) {
            int arrived = count;
            count = 0;
            for (int i = 0; i < arrived && !broken; i++) {
                to.receive(
                        memory,
                        view,
                        (long) i * Headers.MAX_PACKET_BYTES,
                        sizes[i],
                        from.high(),
                        from.low(),
                        port,
                        false,
                        nowNanos);
            }
            return arrived > 0;
        }
    }

    private final Gid near = new Gid(0, 0xffff_0a00_0001L);
    private final Gid far = new Gid(0, 0xffff_0a00_0002L);
    private final Cable toFar = new Cable(near);
    private final Cable toNear = new Cable(far);
    private final TestHost nearHost = host(near, toFar);
    private final TestHost farHost = host(far, toNear);
    private final QueuePair nearPair = pair(nearHost);
    private final QueuePair farPair = pair(farHost);
    private final TestMemory memory = farHost.grant(TestMemory.open(5, 0, BYTES));
    private final WorkRequest receive = request(WorkRequest.Kind.RECEIVE, BYTES);
    private long nowNanos;
    private int completions;

    RoceAllocationTest() {
        nearPair.connect(path(far, farPair), 0);
        farPair.connect(path(near, nearPair), 0);
    }

    private TestHost host(Gid gid, PacketSink sink) {
        return new TestHost(
                gid,
                17,
                4,
                Limits.defaults(4),
                sink,
                (queuePair, done, status) -> {},
                new NoManagement());
    }

    private static QueuePair pair(TestHost host) {
        return Objects.requireNonNull(
                host.adapter().create(host.attachment(TestHost.ALL, 8, RnrTimer.LONGEST), null));
    }

    private static Path path(Gid peer, QueuePair peerPair) {
        return new Path(
                peer, peerPair.number(), 1, 1, 4096, 1, 4, 4, 7, Path.DEFAULT_TIMEOUT_NANOS, 7);
    }

    private WorkRequest request(WorkRequest.Kind kind, int bytes) {
        WorkRequest request = new WorkRequest(kind, status -> completions++, 2);
        MemorySegment local = MemorySegment.ofArray(new byte[bytes]);
        request.local.add(local, 0, bytes / 2);
        request.local.add(local, bytes / 2, bytes - bytes / 2);
        request.lengthBytes = bytes;
        return request;
    }

    @ParameterizedTest
    @EnumSource(
            value = WorkRequest.Kind.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"RECEIVE", "COMPARE_AND_SWAP", "FETCH_AND_ADD"})
    void shouldAllocateNothingPerRequest(WorkRequest.Kind kind) {
        WorkRequest request = request(kind, BYTES);
        request.remote = memory;
        AllocationMeter.assertNone(2_000, () -> complete(request));
    }

    @Test
    void shouldAllocateNothingPerRepeat() {
        WorkRequest request = request(WorkRequest.Kind.WRITE, BYTES);
        request.remote = memory;
        AllocationMeter.assertNone(
                500,
                () -> {
                    toFar.broken = true;
                    submit(request);
                    exchange();
                    toFar.broken = false;
                    nowNanos = nearHost.adapter().nextDeadline();
                    nearHost.adapter().expire(nowNanos);
                    farHost.adapter().expire(nowNanos);
                    int before = completions;
                    while (completions == before) {
                        exchange();
                        nowNanos = nearHost.adapter().nextDeadline();
                        nearHost.adapter().expire(nowNanos);
                    }
                });
    }

    private void complete(WorkRequest request) {
        if (farHost.receives().isEmpty()) {
            farHost.receives().add(receive);
        }
        int before = completions;
        submit(request);
        exchange();
        if (completions == before) {
            throw new AssertionError("not completed");
        }
        nowNanos += 1000;
    }

    private void submit(WorkRequest request) {
        if (nearPair.submit(request) != null) {
            throw new AssertionError("refused");
        }
    }

    private void exchange() {
        boolean moved = true;
        while (moved) {
            nearHost.adapter().transmit(100, nowNanos);
            farHost.adapter().transmit(100, nowNanos);
            moved = toFar.deliver(farHost.adapter()) | toNear.deliver(nearHost.adapter());
        }
    }

    private static final class NoManagement implements Management {
        @Override
        public void contacted(QueuePair queuePair, long now) {}

        @Override
        public void ended(QueuePair queuePair, Status status, String reason, long now) {
            throw new AssertionError(reason);
        }

        @Override
        public void datagram(Packet packet, Gid source, long now) {}

        @Override
        public long nextDeadline() {
            return Adapter.NO_DEADLINE;
        }

        @Override
        public void expire(long now, int limit) {}
    }
}
