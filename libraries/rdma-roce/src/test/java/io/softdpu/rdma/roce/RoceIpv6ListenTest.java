package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.rdma.contract.RdmaListenFixture;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import org.junit.jupiter.api.Test;

/** Connections by address over IPv6. */
@NeedsIpv6
class RoceIpv6ListenTest extends RdmaListenFixture {
    private static final byte[] QUESTION = {1, 2, 3};
    private static final byte[] ANSWER = {4, 5};

    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceIpv6TestEnvironment();
    }

    /** Listens as soon as no other process has the port at the only address. */
    private Rdma listenWhenThePortIsFree() {
        Rdma rdma = start(device, 1, its -> {});
        until("the port of RoCE v2 at ::1", () -> listens(rdma));
        return rdma;
    }

    private static boolean listens(Rdma rdma) {
        try {
            rdma.listen(PORT);
            return true;
        } catch (DpuException e) {
            if (e.status() == Status.ALREADY_EXIST) {
                return false;
            }
            throw e;
        }
    }

    @Test
    void shouldConnectByAddressWithTheDataOfBothProgramsAndDisconnect() {
        Rdma _ = listenWhenThePortIsFree();
        Rdma connector = start(nearDevice, 1, its -> {});

        RdmaConnection here = connector.connect(address(), QUESTION);
        RdmaConnectionRequest request = nextRequest();

        assertThat(request.peerAddress()).isEqualTo(nearDevice.info().ipv6());
        assertThat(request.privateData()).isEqualTo(QUESTION);
        RdmaConnection there = request.accept(ANSWER);
        untilConnected(here, there);
        assertThat(here.provider()).isEqualTo("roce");
        assertThat(here.peerAddress()).isEqualTo(device.info().ipv6());
        assertThat(here.peerPrivateData()).isEqualTo(ANSWER);
        here.disconnect();
        until("disconnected", () -> there.state() == RdmaConnection.State.DISCONNECTED);
    }

    @Test
    void shouldFindNoListenerAtAnotherPort() {
        Rdma _ = listenWhenThePortIsFree();
        Rdma connector = start(nearDevice, 1, its -> {});
        RdmaAddress other = new RdmaAddress(RdmaAddress.Type.IPV6, device.info().ipv6(), PORT + 1);

        RdmaConnection here = connector.connect(other, NO_DATA);

        until("a failure", () -> here.state() == RdmaConnection.State.FAILED);
        assertThat(here.failure()).isEqualTo(Status.NOT_FOUND);
    }

    /** It has one address, of the family that the GID index selects. */
    @Test
    void shouldNameTheFamilyThatItServesIfAnAddressIsOfTheOther() {
        Rdma connector = start(nearDevice, 1, its -> {});
        RdmaAddress other = new RdmaAddress(RdmaAddress.Type.IPV4, device.info().ipv4(), PORT);

        assertThatThrownBy(() -> connector.connect(other, NO_DATA))
                .hasMessageContaining("address is of another family than the GID of the instance")
                .hasMessageContaining("expected=an IPv6 address")
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED));
    }
}
