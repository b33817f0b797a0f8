package io.softdpu.rdma.roce.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.Errno;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.testkit.Await;
import java.lang.reflect.Proxy;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Packets that the system has refused to send. */
class SendFailuresTest {
    private static final Gid ADDRESS = Gid.ofAddress(new byte[] {127, 99, 0, 10});

    /** That of the broadcasts of the loopback network, for which a socket needs a permission. */
    private static final Gid BROADCAST = Gid.ofAddress(new byte[] {127, -1, -1, -1});

    private static final Gid PEER = Gid.ofAddress(new byte[] {10, 0, 0, 1});
    private static final long RECENT_NANOS = 1000;
    private static final int ADDRESSES = 16;

    private final SendFailures failures = new SendFailures(RECENT_NANOS);

    private void refuse(Gid to, int bytes, int errno, long nowNanos) {
        failures.add(to.high(), to.low(), bytes, errno, nowNanos);
    }

    private static Gid peer(int last) {
        return Gid.ofAddress(new byte[] {10, 0, 1, (byte) last});
    }

    @Test
    void shouldTellTheLastOfAPeerForATime() {
        assertThat(failures.text(PEER, 0)).isEmpty();
        refuse(PEER, 60, Errno.EHOSTUNREACH, Long.MAX_VALUE);
        refuse(PEER, 1108, Errno.EMSGSIZE, Long.MAX_VALUE);

        String text = ", notSentTo=10.0.0.1, errno=90 (EMSGSIZE), packets=2, lastPacketBytes=1108";
        assertThat(failures.text(PEER, Long.MAX_VALUE + RECENT_NANOS)).isEqualTo(text);
        assertThat(failures.text(PEER, Long.MAX_VALUE + RECENT_NANOS + 1)).isEmpty();
        assertThat(failures.text(peer(1), Long.MAX_VALUE)).isEmpty();
    }

    @Test
    void shouldForgetThePeerThatWasRefusedFirst() {
        for (int i = 0; i < ADDRESSES; i++) {
            refuse(peer(i), 60, Errno.EPERM, i);
        }
        refuse(peer(0), 60, Errno.EPERM, ADDRESSES);

        refuse(PEER, 60, Errno.EPERM, ADDRESSES);

        assertThat(failures.text(peer(1), ADDRESSES)).isEmpty();
        assertThat(failures.text(peer(0), ADDRESSES)).contains("packets=2,");
        assertThat(failures.text(peer(2), ADDRESSES)).contains("packets=1,");
        assertThat(failures.text(PEER, ADDRESSES)).contains("packets=1,");
    }

    @Test
    void shouldCountByReason() {
        for (int errno :
                new int[] {
                    Errno.EMSGSIZE,
                    Errno.ENETUNREACH,
                    Errno.EHOSTUNREACH,
                    Errno.EPERM,
                    Errno.EACCES,
                    Errno.EACCES,
                    Errno.EINVAL
                }) {
            refuse(PEER, 60, errno, 0);
        }

        Map<String, Long> counts = new LinkedHashMap<>();
        failures.count(counts);
        assertThat(counts)
                .containsExactly(
                        Map.entry("nic_not_sent", 7L),
                        Map.entry("nic_not_sent_too_long", 1L),
                        Map.entry("nic_not_sent_unreachable", 2L),
                        Map.entry("nic_not_sent_not_permitted", 3L));
    }

    @Test
    void shouldBeNamedAtTheEndOfAConnectionWhosePeerGotNothing() {
        Nic nic = Nic.open(ADDRESS, NicOptions.DEFAULTS);
        try {
            NicEndpoint endpoint = BareEndpoint.of(nic);
            endpoint.open();
            String reason = endOfRequest(endpoint);
            while (nic.counters().get("nic_not_sent_not_permitted") == 0) {
                reason = endOfRequest(endpoint); // the time was over before anything was sent
            }
            assertThat(reason).contains(", notSentTo=" + BROADCAST).contains("errno=13 (EACCES)");
            endpoint.close();
        } finally {
            nic.release();
        }
    }

    private static String endOfRequest(NicEndpoint endpoint) {
        NicConnection _ = endpoint.request(owner(), BROADCAST, 4711, new byte[0]);
        Await.until("the end of the request", endpoint::hasEvent);
        NicEvent event = endpoint.pollEvent();
        assertThat(event).isNotNull();
        assertThat(event.what()).isInstanceOf(NicEvent.Ended.class);
        return ((NicEvent.Ended) event.what()).reason();
    }

    /** Engine's object, of which the NIC wants nothing. */
    private static ProviderConnection owner() {
        return (ProviderConnection)
                Proxy.newProxyInstance(
                        ProviderConnection.class.getClassLoader(),
                        new Class<?>[] {ProviderConnection.class},
                        (_, _, _) -> null);
    }
}
