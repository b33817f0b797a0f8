package io.softdpu.rdma.roce.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests that an engine has published, taken in parts. The connections have no peers. */
class NicRequestsTest {
    private static final Gid ADDRESS = Gid.ofAddress(new byte[] {127, 99, 0, 11});
    private static final int CONNECTIONS = 3;

    private final Nic nic = Nic.open(ADDRESS, NicOptions.DEFAULTS); // without a thread
    private final NicEndpoint endpoint = BareEndpoint.of(nic);
    private final List<NicConnection> connections = new ArrayList<>();

    @BeforeEach
    void export() {
        endpoint.open();
        for (int i = 0; i < CONNECTIONS; i++) {
            connections.add(endpoint.export(owner()));
        }
    }

    @AfterEach
    void close() {
        endpoint.close();
        nic.release();
    }

    /** Engine's object, of which the NIC wants nothing. */
    private static ProviderConnection owner() {
        return (ProviderConnection)
                Proxy.newProxyInstance(
                        ProviderConnection.class.getClassLoader(),
                        new Class<?>[] {ProviderConnection.class},
                        (_, _, _) -> null);
    }

    private void publish(int requests) {
        for (NicConnection each : connections) {
            for (int i = 0; i < requests; i++) {
                WorkRequest request = new WorkRequest(WorkRequest.Kind.SEND, status -> {}, 1);
                each.requests().add(request, Status.SUCCESS);
            }
            boolean _ = each.requests().publish();
        }
        endpoint.drive(true);
        assertThat(endpoint.hasRequests()).isTrue();
    }

    @Test
    void shouldTakeNoMoreThanTheLimitAndTheRestLater() {
        publish(4);

        assertThat(endpoint.takeRequests(5)).isEqualTo(5);
        assertThat(endpoint.hasRequests()).as("some are left").isTrue();
        assertThat(endpoint.takeRequests(5)).isEqualTo(5);
        assertThat(endpoint.takeRequests(5)).isEqualTo(2);

        assertThat(endpoint.hasRequests()).isFalse();
        assertThat(endpoint.takeRequests(5)).isZero();
    }

    @Test
    void shouldTakeThoseOfTheConnectionsByTurns() {
        publish(4);
        List<Integer> left = new ArrayList<>();

        for (int i = 0; i < CONNECTIONS; i++) {
            assertThat(endpoint.takeRequests(1)).isOne();
        }
        for (NicConnection each : connections) {
            left.add(each.takeRequests(Integer.MAX_VALUE));
        }

        assertThat(left).containsOnly(3);
    }
}
