package io.softdpu.rdma.roce.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.rdma.roce.Forger;
import io.softdpu.rdma.roce.cm.FarEnd;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.testkit.Await;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Looks at an interface that is the test's, in the time of the test. */
class RecentInterfaceTest {
    private static final Gid ADDRESS = Gid.ofAddress(new byte[] {127, 99, 0, 12});
    private static final Gid FOREIGN = Gid.ofAddress(new byte[] {127, 9, 9, 12});
    private static final int REQUESTS = 20;

    private long now = Long.MAX_VALUE - RecentInterface.MAX_AGE_NANOS / 2; // it wraps meanwhile
    private int looks;
    private @Nullable LocalInterface found = new LocalInterface("first", 1500);
    private final RecentInterface recent = new RecentInterface(this::look, () -> now);

    private @Nullable LocalInterface look() {
        looks++;
        return found;
    }

    @Test
    void shouldLookAgainOnceTheLastAnswerIsOld() {
        LocalInterface first = found;
        assertThat(recent.recent()).as("none yet").isSameAs(first);
        found = null;
        now += RecentInterface.MAX_AGE_NANOS - 1;
        assertThat(recent.recent()).isSameAs(first);
        assertThat(looks).isOne();

        now++;
        assertThat(recent.recent()).isNull();
        assertThat(recent.recent()).as("that there was none is an answer too").isNull();
        assertThat(looks).isEqualTo(2);
    }

    @Test
    void shouldLookEachTimeWhereTheProgramAsks() {
        LocalInterface _ = recent.now();
        found = new LocalInterface("second", 9000);

        assertThat(recent.now()).isSameAs(found);
        assertThat(recent.recent()).isSameAs(found);
        assertThat(looks).isEqualTo(2);
    }

    /** No answer lowers what a peer asks for that is none of softdpu. */
    @Test
    void shouldLookOnceForManyRequestsOfPeers() {
        Nic nic = Nic.open(ADDRESS, NicOptions.DEFAULTS);
        NicEndpoint endpoint = BareEndpoint.of(nic, recent);
        endpoint.open();
        try {
            endpoint.listen(FarEnd.PORT);
            looks = 0;
            found = new LocalInterface("small", 500);
            now += RecentInterface.MAX_AGE_NANOS;

            for (int id = 1; id <= REQUESTS; id++) {
                assertThat(endpoint.takesPathMtu(request(nic, endpoint, id))).isFalse();
            }
            assertThat(looks).isOne();

            found = new LocalInterface("large", 1500);
            now += RecentInterface.MAX_AGE_NANOS;
            assertThat(endpoint.takesPathMtu(request(nic, endpoint, REQUESTS + 1))).isTrue();
            assertThat(looks).isEqualTo(2);
        } finally {
            endpoint.close();
            nic.release();
        }
    }

    /** A request as it would come in a packet. */
    private static NicRequest request(Nic nic, NicEndpoint endpoint, int id) {
        FarEnd peer = new FarEnd(FOREIGN, nic.gid(), FarEnd.LINUX_GUID, id, 0x100 + id);
        byte[] bytes = Forger.message(CmCodec.encode(peer.req(new byte[0])), CmCodec.QUEUE_KEY, id);
        nic.run(() -> {
            Packet packet = new Packet();
            assertThat(packet.wrap(MemorySegment.ofArray(bytes), 0, bytes.length)).isNull();
            nic.manager().datagram(packet, FOREIGN, System.nanoTime());
        });
        NicRequest[] arrived = new NicRequest[1];
        Await.until(
                "a request",
                () -> {
                    arrived[0] = endpoint.pollRequest();
                    return arrived[0] != null;
                });
        return arrived[0];
    }
}
