package io.softdpu.rdma.roce.rc;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.rdma.roce.simulation.TestHost;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Deadlines of connections whose peers are silent, in parts of a limited cost. */
class DeadlineCostTest implements ReceiveListener, ConnectionEvents, PacketSink {
    private static final int QUEUE_PAIRS = 3;

    /** Of a connection; they count as three deadlines. */
    private static final int REQUESTS = 48;

    private static final long FOREVER = Long.MAX_VALUE / 2;

    private final Agenda agenda = new Agenda(QUEUE_PAIRS);
    private final List<QueuePair> queuePairs = new ArrayList<>();
    private int completed;
    private int ended;

    private void connect(int number) {
        RemoteKeys noKeys =
                new RemoteKeys() {
                    @Override
                    public int key(RemoteMemory memory) {
                        return 0;
                    }

                    @Override
                    public long address(RemoteMemory memory) {
                        return 0;
                    }
                };
        Attachment attachment =
                new Attachment(
                        this,
                        () -> null,
                        (key, address, bytes, right) -> null,
                        noKeys,
                        new Copier(),
                        TestHost.ALL,
                        64,
                        RnrTimer.LONGEST);
        QueuePair made = new QueuePair(number, null, attachment, Limits.defaults(1), this, agenda);
        queuePairs.add(made);
        made.connect(
                new Path(new Gid(0, 1), 9, 20, 10, 256, 1, 1, 1, 7, Path.DEFAULT_TIMEOUT_NANOS, 7),
                0);
        for (int i = 0; i < REQUESTS; i++) {
            WorkRequest request = new WorkRequest(WorkRequest.Kind.SEND, status -> completed++, 1);
            assertThat(made.submit(request)).isNull();
        }
        assertThat(made.transmit(this, new OutgoingPacket(1), 1, 0)).isOne();
    }

    @Test
    void shouldCountOneThatEndsAConnectionByTheRequestsThatItCompletes() {
        for (int i = 0; i < QUEUE_PAIRS; i++) {
            connect(2 + i);
        }

        agenda.expire(FOREVER, 4);

        assertThat(ended).as("the first one alone").isOne();
        assertThat(completed).isEqualTo(REQUESTS);
        assertThat(agenda.nextDeadline()).as("still in the past").isLessThan(FOREVER);
        agenda.expire(FOREVER, 5);
        assertThat(ended).isEqualTo(QUEUE_PAIRS);
        assertThat(completed).isEqualTo(QUEUE_PAIRS * REQUESTS);
    }

    @Override
    public void received(QueuePair queuePair, WorkRequest receive, Status status) {
        throw new AssertionError("nothing is received");
    }

    @Override
    public void contacted(QueuePair queuePair, long nowNanos) {
        throw new AssertionError("nothing is received");
    }

    @Override
    public void ended(QueuePair queuePair, Status status, String reason, long nowNanos) {
        ended++;
    }

    @Override
    public boolean isReady() {
        return true;
    }

    @Override
    public void send(OutgoingPacket packet) {
        assertThat(packet.payloadBytes()).isZero();
    }
}
