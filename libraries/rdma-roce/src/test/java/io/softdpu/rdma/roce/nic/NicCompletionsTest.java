package io.softdpu.rdma.roce.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import io.softdpu.testkit.Await;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Connections with full queues which a peer ends at once. The NICs have no threads. */
class NicCompletionsTest {
    private static final int CONNECTIONS = 16;
    private static final int REQUESTS = 256;

    private final End near = new End((byte) 13);
    private final End far = new End((byte) 14);

    @AfterEach
    void close() {
        near.close();
        far.close();
    }

    @Test
    void shouldLimitWhatThePacketsOfAPassComplete() {
        connect();
        near.publish();
        while (near.endpoint.hasRequests()) {
            near.turn();
        }
        assertThat(near.takeCompletions()).as("nobody has answered").isZero();

        for (NicConnection each : far.connections) { // each a DREQ
            far.nic.run(() -> each.disconnect(System.nanoTime()));
        }
        far.turn();
        int[] most = {0};
        int[] all = {0};
        Await.byStep(
                "the end of all requests",
                () -> all[0] == CONNECTIONS * REQUESTS,
                () -> {
                    near.turn();
                    int completed = near.takeCompletions();
                    most[0] = Math.max(most[0], completed);
                    all[0] += completed;
                });

        assertThat(most[0]).isLessThan(NicLoop.COMPLETIONS_PER_PASS + REQUESTS);
    }

    private void connect() {
        for (int i = 0; i < CONNECTIONS; i++) {
            NicConnection here = near.connections.get(i);
            NicConnection there = far.connections.get(i);
            here.connect(far.nic.gid(), there.key(), 7, RnrTimer.LONGEST, System.nanoTime());
            there.connect(near.nic.gid(), here.key(), 7, RnrTimer.LONGEST, System.nanoTime());
        }
        int[] established = {0};
        Await.byStep(
                "connections",
                () -> established[0] == 2 * CONNECTIONS,
                () -> established[0] += near.established() + far.established());
    }

    /** NIC with an endpoint, and the thread of the test as its engine. */
    private static final class End {
        private final Nic nic;
        private final NicEndpoint endpoint;
        private final List<NicConnection> connections = new ArrayList<>();

        End(byte address) {
            nic = Nic.open(Gid.ofAddress(new byte[] {127, 99, 0, address}), NicOptions.DEFAULTS);
            endpoint =
                    new NicEndpoint(
                            nic, config(), (key, from, bytes, right) -> null, BareEndpoint.NO_KEYS);
            endpoint.open();
            nic.loop().prepare();
            for (int i = 0; i < CONNECTIONS; i++) {
                connections.add(endpoint.export(owner()));
            }
        }

        private static EndpointConfig config() {
            return new EndpointConfig(
                    null,
                    null,
                    Permissions.LOCAL_READ_ONLY,
                    REQUESTS,
                    1,
                    1,
                    1,
                    CONNECTIONS,
                    1024,
                    InetAddress.getLoopbackAddress(),
                    7,
                    RnrTimer.LONGEST,
                    60_000_000_000L);
        }

        /** Engine's object, of which the NIC wants nothing. */
        private static ProviderConnection owner() {
            return (ProviderConnection)
                    Proxy.newProxyInstance(
                            ProviderConnection.class.getClassLoader(),
                            new Class<?>[] {ProviderConnection.class},
                            (_, _, _) -> null);
        }

        void publish() {
            for (NicConnection each : connections) {
                for (int i = 0; i < REQUESTS; i++) {
                    WorkRequest request = new WorkRequest(WorkRequest.Kind.SEND, status -> {}, 1);
                    each.requests().add(request, Status.SUCCESS);
                }
                boolean _ = each.requests().publish();
            }
            endpoint.drive(true);
        }

        /** A turn of the thread, which has a task so that it does not sleep. */
        void turn() {
            nic.loop().post(() -> {});
            nic.loop().turn();
        }

        /** Takes the events of a turn; number of connections that it has established. */
        int established() {
            turn();
            int number = 0;
            NicEvent event = endpoint.pollEvent();
            while (event != null) {
                assertThat(event.what()).isInstanceOf(NicEvent.Established.class);
                number++;
                event = endpoint.pollEvent();
            }
            return number;
        }

        int takeCompletions() {
            int number = 0;
            for (NicConnection each : connections) {
                while (each.completions().poll() != null) {
                    number++;
                }
            }
            return number;
        }

        void close() {
            endpoint.close();
            nic.release();
        }
    }
}
