package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.spi.ConnectionBlob;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections whose programs exchange the numbers of their queue pairs. */
class RoceParametersTest {
    private static final int MESSAGE_BYTES = 3000;

    @TempDir Path folder;
    @AutoClose private Party near;
    @AutoClose private Party far;
    private RdmaConnection toFar;
    private RdmaConnection toNear;

    @BeforeEach
    void open() {
        near = new Party(folder, Side.TARGET);
        far = new Party(folder, Side.DPU);
        toFar = near.export();
        toNear = far.export();
    }

    private static void assertStatus(Status expected, String text, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(expected))
                .hasMessageContaining(text);
    }

    private void connectBoth() {
        near.connect(toFar, RoceQueuePair.of(toNear).blob());
        far.connect(toNear, RoceQueuePair.of(toFar).blob());
        Party.drive(
                "connections",
                () ->
                        toFar.state() == RdmaConnection.State.CONNECTED
                                && toNear.state() == RdmaConnection.State.CONNECTED,
                near,
                far);
    }

    @Test
    void shouldReportTheNumbersOfAnExportedConnection() {
        RoceQueuePair numbers = RoceQueuePair.of(toFar);
        assertThat(numbers.gid()).isEqualTo(near.rdma.device().info().ipv4());
        assertThat(numbers.number()).isEqualTo(Party.details(toFar).queuePair());
        assertThat(numbers.pathMtuBytes()).isEqualTo(near.rdma.pathMtuBytes());
        assertThat(numbers.readLimit()).isEqualTo(16);
    }

    @Test
    void shouldBeConnectedBeforeThePeerIs() {
        near.connect(toFar, RoceQueuePair.of(toNear).blob());
        Party.drive("the connection", () -> toFar.state() == RdmaConnection.State.CONNECTED, near);
        assertThat(toNear.state()).isEqualTo(RdmaConnection.State.EXPORTED);
        assertThat(toFar.provider()).isEqualTo("roce");
        assertThat(toFar.pathMtuBytes()).isEqualTo(near.rdma.pathMtuBytes());
        assertThat(near.send(toFar, MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);

        connectFar();
        assertThat(far.receive(MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
        Party.drive(
                "the message that was sent before",
                () -> !near.results.isEmpty() && !far.results.isEmpty(),
                near,
                far);
        assertThat(near.results).containsExactly(Status.SUCCESS);
        assertThat(far.results).containsExactly(Status.SUCCESS);
    }

    private void connectFar() {
        far.connect(toNear, RoceQueuePair.of(toFar).blob());
        Party.drive(
                "the other end", () -> toNear.state() == RdmaConnection.State.CONNECTED, near, far);
    }

    /** The peer learns of it by the answer that does not come. */
    @Test
    void shouldEndOnThisSideAlone() {
        connectBoth();
        toFar.disconnect();
        Party.drive("the end here", () -> toFar.state() == RdmaConnection.State.DISCONNECTED, near);
        assertThat(far.send(toNear, MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
        Party.drive("the failure there", () -> !far.results.isEmpty(), near, far);
        assertThat(far.results.remove()).isNotEqualTo(Status.SUCCESS);
        Party.drive(
                "the end there", () -> toNear.state() == RdmaConnection.State.FAILED, near, far);
        assertThat(toNear.failure()).isEqualTo(Status.CONNECTION_RESET);
    }

    @Test
    void shouldRefuseAPathMtuBeyondThatOfTheInstance() {
        RoceQueuePair peer = RoceQueuePair.of(toNear);
        RoceQueuePair larger =
                new RoceQueuePair(
                        peer.gid(), peer.number(), peer.firstPsn(), 4096, peer.readLimit());
        assertStatus(
                Status.INVALID_VALUE,
                "pathMtuBytes=4096, limit=" + near.rdma.pathMtuBytes(),
                () -> near.connect(toFar, larger.blob()));
        assertThat(toFar.state()).isEqualTo(RdmaConnection.State.EXPORTED);
        connectBoth();
    }

    @ParameterizedTest
    @ValueSource(strings = {"192.0.2.1", "0.0.0.0", "::1", "fe80::1", "224.0.0.1"})
    void shouldRefuseAnAddressThatIsNotInReach(String address) {
        RoceQueuePair elsewhere = new RoceQueuePair(InetAddress.ofLiteral(address), 2, 0, 1024, 16);
        assertStatus(
                Status.NOT_SUPPORTED, "address is ", () -> near.connect(toFar, elsewhere.blob()));
        assertThat(toFar.state()).isEqualTo(RdmaConnection.State.EXPORTED);
        connectBoth();
    }

    @Test
    void shouldConnectOnce() {
        byte[] blob = RoceQueuePair.of(toNear).blob();
        near.connect(toFar, blob);
        assertStatus(Status.BAD_STATE, "connected before", () -> near.connect(toFar, blob));
        assertStatus(
                Status.BAD_STATE, "connected before", () -> near.connect(toFar, toNear.blob()));
        toNear.disconnect();
        assertStatus(
                Status.BAD_STATE,
                "connected before",
                () -> far.connect(toNear, RoceQueuePair.of(toFar).blob()));
    }

    @Test
    void shouldRefuseADamagedBlob() {
        byte[] blob = RoceQueuePair.of(toNear).blob();
        blob[blob.length - 1] ^= 1;
        assertStatus(Status.INVALID_VALUE, "field=check", () -> near.connect(toFar, blob));
        byte[] shorter = Arrays.copyOf(blob, blob.length - 1);
        assertStatus(Status.INVALID_VALUE, "too short", () -> near.connect(toFar, shorter));
    }

    /** One that a peer has sent in place of its own. */
    @Test
    void shouldRefuseABlobThatThisProcessHasNotMade() {
        ConnectionBlob made = ConnectionBlob.decode(RoceQueuePair.of(toNear).blob());
        byte[] section = made.sections().getFirst().details();
        section[section.length - 1] ^= 1;
        ConnectionBlob forged =
                new ConnectionBlob(
                        made.permissions(),
                        List.of(new ConnectionBlob.Section(2, "roce", section)));
        assertStatus(
                Status.INVALID_VALUE,
                "of another process",
                () -> near.connect(toFar, forged.encode()));
        assertThat(toFar.state()).isEqualTo(RdmaConnection.State.EXPORTED);
        connectBoth();
    }

    @Test
    void shouldRefuseAQueuePairThatAnotherConnectionHas() {
        connectBoth();
        try (Party beside = new Party(folder, Side.TARGET)) {
            RdmaConnection second = beside.export();
            byte[] blob = RoceQueuePair.of(toNear).blob();
            assertStatus(
                    Status.ALREADY_EXIST,
                    "queuePair=" + RoceQueuePair.of(toNear).number(),
                    () -> beside.connect(second, blob));
            assertThat(second.state()).isEqualTo(RdmaConnection.State.EXPORTED);
        }
        assertThat(far.receive(MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
        assertThat(near.send(toFar, MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
        Party.drive("the message", () -> far.results.size() + near.results.size() == 2, near, far);
        assertThat(far.results).containsExactly(Status.SUCCESS);
    }

    @Test
    void shouldRefuseItsOwnQueuePair() {
        assertStatus(
                Status.INVALID_VALUE,
                "its own queue pair",
                () -> near.connect(toFar, RoceQueuePair.of(toFar).blob()));
        connectBoth();
    }

    @Test
    void shouldHaveNoNumbersOfAConnectionByAddress() {
        toFar.disconnect();
        RdmaConnection requested =
                near.rdma.connect(
                        RdmaAddress.of(
                                RdmaAddress.Type.IPV4,
                                far.rdma.device().info().ipv4().getHostAddress(),
                                5),
                        new byte[0]);
        assertStatus(
                Status.NOT_SUPPORTED,
                "connection has no queue pair of provider roce",
                () -> RoceQueuePair.of(requested));
    }

    @Test
    void shouldNeedThePortOfRoce() throws IOException {
        InetAddress address = far.rdma.device().info().ipv4();
        near.close();
        far.close();
        RdmaConnection exported;
        try (DatagramSocket holder = new DatagramSocket(null)) {
            holder.bind(new InetSocketAddress(address, Headers.UDP_PORT));
            far = new Party(folder, Side.DPU);
            exported = far.export();
        }
        near = new Party(folder, Side.TARGET);
        assertStatus(Status.ALREADY_EXIST, "expected=port 4791", () -> RoceQueuePair.of(exported));
        byte[] blob = RoceQueuePair.of(near.export()).blob();
        assertStatus(
                Status.ALREADY_EXIST,
                "connections by address and by parameters need",
                () -> far.connect(exported, blob));
    }
}
