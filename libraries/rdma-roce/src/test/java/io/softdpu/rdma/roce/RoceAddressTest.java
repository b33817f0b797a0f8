package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.rdma.contract.RdmaListenFixture;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.rdma.roce.nic.BareEndpoint;
import io.softdpu.rdma.roce.nic.Nic;
import io.softdpu.rdma.roce.nic.NicFailures;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Connections by address: the port that they need, their reach, and the backlog of requests. */
class RoceAddressTest extends RdmaListenFixture {
    /** Requests that an instance may have beyond its connections before it progresses. */
    private static final int BACKLOG = 16;

    /** Of these, those that an address leaves to others. */
    private static final int LEFT_TO_OTHERS = 8;

    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }

    @AfterEach
    void requireNoFailures() {
        assertThat(NicFailures.ofRunning()).as("exceptions on the NICs' threads").isZero();
    }

    private static DatagramSocket hold(Inet4Address address) throws IOException {
        return new DatagramSocket(new InetSocketAddress(address, Headers.UDP_PORT));
    }

    private static DpuException refusalOf(Runnable call) {
        DpuException thrown = catchThrowableOfType(DpuException.class, call::run);
        assertThat(thrown).as("a refusal").isNotNull();
        return thrown;
    }

    private static void assertNamesTheHolder(DpuException refusal, Inet4Address address) {
        assertThat(refusal.status()).isEqualTo(Status.ALREADY_EXIST);
        assertThat(refusal)
                .hasMessageContaining("address=" + address.getHostAddress())
                .hasMessageContaining("port=" + Headers.UDP_PORT)
                .hasMessageContaining("holder=process " + ProcessHandle.current().pid() + ",");
    }

    @Test
    void shouldNameTheHolderOfThePortThatAListenerNeedsAndListenWhenItIsFree() throws IOException {
        Rdma listener = start(device, 1, rdma -> {});
        Rdma connector = start(nearDevice, 1, rdma -> {});
        Inet4Address address = device.info().ipv4();
        try (DatagramSocket held = hold(address)) {
            assertThat(held.isBound()).isTrue();
            assertNamesTheHolder(refusalOf(() -> listener.listen(PORT)), address);
        }
        listener.listen(PORT);
        establish(connector);
    }

    @Test
    void shouldNameTheHolderOfThePortThatAConnectNeedsAndConnectWhenItIsFree() throws IOException {
        listener(1);
        Rdma connector = start(nearDevice, 1, rdma -> {});
        Inet4Address address = nearDevice.info().ipv4();
        try (DatagramSocket held = hold(address)) {
            assertThat(held.isBound()).isTrue();
            assertNamesTheHolder(refusalOf(() -> connector.connect(address(), NO_DATA)), address);
        }
        establish(connector);
    }

    /** Blobs name the port. */
    @Test
    void shouldConnectByBlobAloneWhileItHasAnotherPort() throws IOException {
        Rdma one = start(device, 2, rdma -> {});
        Rdma other = start(nearDevice, 1, rdma -> {});
        RdmaConnection here;
        try (DatagramSocket held = hold(device.info().ipv4())) {
            assertThat(held.isBound()).isTrue();
            here = one.exportConnection();
            assertNamesTheHolder(refusalOf(() -> one.listen(PORT)), device.info().ipv4());
        }
        assertThat(refusalOf(() -> one.listen(PORT)))
                .as("until its connections have ended")
                .hasMessageContaining("holder=process " + ProcessHandle.current().pid() + ",")
                .extracting(DpuException::status)
                .isEqualTo(Status.ALREADY_EXIST);
        RdmaConnection there = other.exportConnection();
        one.connect(there.blob(), here);
        other.connect(here.blob(), there);
        until("connected", () -> here.state() == RdmaConnection.State.CONNECTED);
    }

    @Test
    void shouldNameTheAddressesOfTheDeviceIfOneOfAnotherSubnetIsConnectedTo() {
        assertRefused("10.1.2.3", "not in the network of the device");
        assertRefused("169.254.1.1", "not in the network of the device");
    }

    /** Of this machine, but not of a subnet in which the device is. */
    @Test
    void shouldRefuseTheAddressOfAnotherInterface() throws IOException {
        Optional<InetAddress> other =
                NetworkInterface.networkInterfaces()
                        .flatMap(NetworkInterface::inetAddresses)
                        .filter(each -> each instanceof Inet4Address && !each.isLoopbackAddress())
                        .findFirst();
        assertRefused(
                other.map(InetAddress::getHostAddress).orElse("192.0.2.1"),
                "not in the network of the device");
    }

    /** Before it looks for a socket: the device has no such address here. */
    @Test
    void shouldRefuseALinkLocalAddressAsOneWithoutAnInterface() {
        RecordingListener unasked = new RecordingListener();
        Gid own = Gid.ofAddress(nearDevice.info().ipv6().getAddress());
        LocalNetwork network = new LocalNetwork(own, 0, new UUID(1, 2), 1);
        RoceEndpoint endpoint =
                new RoceEndpoint(BareEndpoint.config(nearDevice), unasked, own, network);
        DpuException refusal =
                refusalOf(() -> {
                    ProviderConnection _ =
                            endpoint.connect(linkLocal(), PORT, NO_DATA, new Object());
                });
        assertThat(refusal).hasMessageContaining("link-local address names no interface");
        assertNamesTheDevice(refusal, "fe80::1");
        endpoint.close();
    }

    private static InetAddress linkLocal() {
        byte[] bytes = new byte[Gid.BYTES];
        bytes[0] = (byte) 0xfe;
        bytes[1] = (byte) 0x80;
        bytes[Gid.BYTES - 1] = 1;
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A refusal that has opened no socket, so that there can have been no packet. */
    private void assertRefused(String address, String reason) {
        Rdma connector = start(nearDevice, 1, rdma -> {});
        RdmaAddress outside = RdmaAddress.of(RdmaAddress.Type.IPV4, address, PORT);
        DpuException refusal = refusalOf(() -> connector.connect(outside, NO_DATA));
        assertThat(refusal).hasMessageContaining(reason);
        assertNamesTheDevice(refusal, address);
    }

    private void assertNamesTheDevice(DpuException refusal, String address) {
        assertThat(refusal.status()).isEqualTo(Status.NOT_SUPPORTED);
        assertThat(refusal)
                .hasMessageContaining("address=" + address + ",")
                .hasMessageContaining("device=" + nearDevice.info().ibdevName() + ",")
                .hasMessageContaining("ipv4=" + nearDevice.info().ipv4().getHostAddress() + ",")
                .hasMessageContaining(
                        "ipv6=" + Gid.ofAddress(nearDevice.info().ipv6().getAddress()) + ",");
        assertThat(Nic.anyOpen()).as("an open NIC").isEmpty();
    }

    /** It has one address, of the family that the GID index selects. */
    @Test
    void shouldNameTheFamilyThatItServesIfAnAddressIsOfTheOther() {
        Rdma connector = start(nearDevice, 1, rdma -> {});
        RdmaAddress other = RdmaAddress.of(RdmaAddress.Type.IPV6, "::1", PORT);

        DpuException refusal = refusalOf(() -> connector.connect(other, NO_DATA));
        assertThat(refusal)
                .hasMessageContaining("address is of another family than the GID of the instance")
                .hasMessageContaining("expected=an IPv4 address");
        assertNamesTheDevice(refusal, "::1");
    }

    /** Reach is mutual: what comes from elsewhere, as by a router, is not shown to the program. */
    @Test
    void shouldRefuseTheRequestOfAPeerThatIsNotInItsNetwork() throws IOException {
        Gid own = Gid.ofAddress(device.info().ipv4().getAddress());
        LocalNetwork elsewhere =
                new LocalNetwork(Gid.ofAddress(new byte[] {10, 1, 2, 3}), 24, new UUID(1, 2), 1);
        RecordingListener unasked = new RecordingListener();
        RoceEndpoint endpoint =
                new RoceEndpoint(BareEndpoint.config(device), unasked, own, elsewhere);
        Rdma connector = start(nearDevice, 1, rdma -> {});
        try {
            endpoint.listen(PORT);
            RdmaConnection here = connector.connect(address(), NO_DATA);
            until(
                    "a refusal",
                    () -> {
                        boolean _ = endpoint.progress();
                        return here.state() == RdmaConnection.State.FAILED;
                    });
            assertThat(here.failure()).isEqualTo(Status.CONNECTION_ABORTED);
            assertThat(here.failureReason())
                    .contains("address is not in the network of the device")
                    .contains("address=" + nearDevice.info().ipv4().getHostAddress());
            assertThat(unasked.requests).isEmpty();
        } finally {
            endpoint.close();
        }
    }

    /** One without a NIC answers by the system, one with a NIC by connection management. */
    @Test
    void shouldFindNoListenerWhereNobodyHasThePortAndWhereNobodyListens() {
        Rdma passive = start(device, 1, rdma -> {});
        Rdma connector = start(nearDevice, 1, rdma -> {});

        assertFindsNoListener(connector, "nothing receives at the address of the peer");
        passive.listen(PORT + 1);
        assertFindsNoListener(connector, "nothing listens at the port: port=" + PORT);
    }

    private void assertFindsNoListener(Rdma connector, String why) {
        RdmaConnection here = connector.connect(address(), NO_DATA);
        until("a failure", () -> here.state() == RdmaConnection.State.FAILED);
        assertThat(here.failure()).isEqualTo(Status.NOT_FOUND);
        assertThat(here.failureReason())
                .containsOnlyOnce("address=" + device.info().ipv4().getHostAddress())
                .contains("port=" + PORT)
                .contains(why);
    }

    /** The counters of a connection are there before it has a queue pair, and if it gets none. */
    @Test
    void shouldCountNothingForAnAcceptanceBeforeItIsSentAndForOneThatCameTooLate() {
        Rdma rdma = listener(2);
        Rdma connector = start(nearDevice, 2, its -> {});
        RdmaConnection here = connector.connect(address(), NO_DATA);
        RdmaConnection there = nextRequest().accept(NO_DATA);
        assertThat(there.counters())
                .isNotEmpty()
                .allSatisfy((_, count) -> assertThat(count).isZero());
        until("connected", () -> there.state() == RdmaConnection.State.CONNECTED);
        assertThat(there.counters()).containsOnlyKeys(here.counters().keySet());

        RdmaConnection given = connector.connect(address(), NO_DATA);
        RdmaConnectionRequest request = nextRequest();
        given.disconnect();
        RdmaConnection late = request.accept(NO_DATA);
        until("its end", () -> late.state() == RdmaConnection.State.FAILED);
        assertThat(late.counters()).containsOnlyKeys(here.counters().keySet());

        RdmaConnection last = connector.connect(address(), NO_DATA);
        RdmaConnection stopped = nextRequest().accept(NO_DATA);
        stop(rdma); // before the acceptance is sent
        assertThat(stopped.state()).isEqualTo(RdmaConnection.State.DISCONNECTED);
        assertThat(stopped.counters()).allSatisfy((_, count) -> assertThat(count).isZero());
        until("a refusal", () -> last.state() == RdmaConnection.State.FAILED);
        assertThat(last.failure()).isEqualTo(Status.CONNECTION_ABORTED);
        assertThat(last.failureReason()).contains("listener is stopping");
    }

    /** An instance of the target, and one of the listener's device, which has another address. */
    @Test
    void shouldKeepAsManyRequestsUntilItProgressesAsItsLimitWithPlacesForEachAddress() {
        Rdma _ = listener(1);
        int limit = 1 + BACKLOG;
        int share = limit - LEFT_TO_OTHERS;
        try (ProgressEngine other = ProgressEngine.create();
                Rdma here = connector(nearDevice, other, share + 1);
                Rdma there = connector(device, other, LEFT_TO_OTHERS + 1)) {
            List<RdmaConnection> ofOne = connect(here, share + 1);
            awaitOneRefusal(ofOne, other);
            List<RdmaConnection> ofOther = connect(there, LEFT_TO_OTHERS + 1);
            awaitOneRefusal(ofOther, other);
            assertThat(failures(ofOne)).hasSize(1);

            RdmaConnectionRequest request = nextRequest();
            until(
                    "all but the one that is shown are refused",
                    () -> {
                        other.progress();
                        return failures(ofOne).count() + failures(ofOther).count() == limit + 1;
                    });
            assertThat(request.isPending()).isTrue();
            assertThat(requests).isEmpty();
            stop(here, other);
            stop(there, other);
        }
    }

    @Test
    void shouldGiveThePlacesOfRequestsThatWereGivenUpToOthers() {
        Rdma _ = listener(1);
        int share = 1 + BACKLOG - LEFT_TO_OTHERS;
        try (ProgressEngine other = ProgressEngine.create();
                Rdma connector = connector(nearDevice, other, share + 1)) {
            for (int round = 0; round < 3; round++) {
                List<RdmaConnection> requested = connect(connector, share + 1);
                awaitOneRefusal(requested, other);
                for (RdmaConnection each : requested) {
                    if (each.state() == RdmaConnection.State.CONNECTING) {
                        each.disconnect();
                    }
                }
                Await.byStep(
                        "all have ended",
                        () ->
                                requested.stream()
                                        .noneMatch(each ->
                                                each.state() == RdmaConnection.State.CONNECTING),
                        other::progress);
                assertThat(failures(requested)).hasSize(1);
            }
            stop(connector, other);
        }
    }

    private static Rdma connector(Device on, ProgressEngine engine, int maxConnections) {
        Rdma connector = Rdma.create(on);
        connector
                .setMaxConnections(maxConnections)
                .setConnectTimeout(Patience.LIMIT)
                .setSendTasks(1, task -> task.free(), task -> task.free());
        engine.connect(connector);
        connector.start();
        return connector;
    }

    private List<RdmaConnection> connect(Rdma connector, int number) {
        List<RdmaConnection> requested = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            requested.add(connector.connect(address(), NO_DATA));
        }
        return requested;
    }

    private static void awaitOneRefusal(List<RdmaConnection> requested, ProgressEngine engine) {
        Await.byStep(
                "a refusal without progress of the listener",
                () -> failures(requested).findAny().isPresent(),
                engine::progress);
        assertThat(failures(requested))
                .singleElement()
                .satisfies(failed -> {
                    assertThat(failed.failure()).isEqualTo(Status.CONNECTION_ABORTED);
                    assertThat(failed.failureReason())
                            .contains("listener has not looked at its requests: requests=")
                            .contains("limit=17, limitOfAddress=9");
                });
    }

    private static void stop(Rdma connector, ProgressEngine engine) {
        connector.stop();
        Await.byStep("idle", () -> connector.state() == ContextState.IDLE, engine::progress);
    }

    private static Stream<RdmaConnection> failures(List<RdmaConnection> of) {
        return of.stream().filter(each -> each.state() == RdmaConnection.State.FAILED);
    }
}
