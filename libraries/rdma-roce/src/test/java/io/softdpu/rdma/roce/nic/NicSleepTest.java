package io.softdpu.rdma.roce.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.UdpSocket;
import io.softdpu.linux.event.Poller;
import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.wire.Gid;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sleep of the thread of a NIC, without the thread. Times are those of the test. */
class NicSleepTest {
    private static final Gid ADDRESS = Gid.ofAddress(new byte[] {127, 99, 0, 8});
    private static final long LOOK = NicSleep.LOOK_NANOS;
    private static final int HOUR_SECONDS = 3600;

    /** Long after the construction, in whose time none has polled. */
    private final long now = System.nanoTime() + 100_000 * LOOK;

    private final Nic nic = Nic.open(ADDRESS, NicOptions.DEFAULTS); // without a thread
    private final UdpSocket socket = open();
    private final List<NicEndpoint> endpoints = new ArrayList<>();
    private final NicSleep sleep = new NicSleep(endpoints);
    private final NicEndpoint here = BareEndpoint.of(nic);
    private final NicEndpoint there = BareEndpoint.of(nic);

    private static UdpSocket open() {
        try {
            InetAddress address = InetAddress.getByAddress(ADDRESS.addressBytes());
            return UdpSocket.open(new InetSocketAddress(address, 0));
        } catch (UnknownHostException e) {
            throw new IllegalStateException("address of four bytes: address=" + ADDRESS, e);
        }
    }

    @BeforeEach
    void prepare() {
        sleep.prepare(socket.fd());
        endpoints.add(here);
        endpoints.add(there);
    }

    @AfterEach
    void close() {
        sleep.close();
        socket.close();
        nic.release();
    }

    private static void polls(NicEndpoint endpoint, long nanos) {
        endpoint.driven(nanos - 1);
        endpoint.driven(nanos);
    }

    /** The thread steps aside for a program that has polled. */
    private void leaveTo(NicEndpoint endpoint) {
        polls(endpoint, now);
        sleep.look(now);
        sleep.plan(now, Adapter.NO_DEADLINE, false);
        assertThat(sleep.interest()).as("left to the program").isZero();
    }

    @Test
    void shouldWatchTheSocketUntilTheNextDeadlineWhileNoProgramPolls() {
        sleep.look(now);
        assertThat(sleep.leavesPackets()).isFalse();

        sleep.plan(now, now + 7, false);

        assertThat(sleep.interest()).isEqualTo(Poller.IN);
        assertThat(sleep.wakesAt()).isEqualTo(now + 7);
        sleep.plan(now, Adapter.NO_DEADLINE, true);
        assertThat(sleep.interest()).as("blocked").isEqualTo(Poller.IN | Poller.OUT);
        assertThat(sleep.wakesAt()).isEqualTo(now + HOUR_SECONDS * 1_000_000_000L);
    }

    @Test
    void shouldLeaveTheSocketToAProgramThatPollsUntilTheNextLook() {
        polls(here, now);
        sleep.look(now);

        assertThat(sleep.leavesPackets()).isTrue();
        sleep.plan(now, now + 1, false); // which the program serves
        assertThat(sleep.interest()).isZero();
        assertThat(sleep.wakesAt()).isEqualTo(now + LOOK);
    }

    @Test
    void shouldTakeOverOnceNoProgramHasPolledForALook() {
        leaveTo(here);
        sleep.look(now + LOOK - 1);
        sleep.plan(now + LOOK - 1, Adapter.NO_DEADLINE, false);
        assertThat(sleep.interest()).as("polled lately").isZero();

        sleep.look(now + LOOK);
        sleep.plan(now + LOOK, Adapter.NO_DEADLINE, false);

        assertThat(sleep.interest()).isEqualTo(Poller.IN);
        assertThat(sleep.wakesAt()).isGreaterThan(now + 2 * LOOK);
    }

    @Test
    void shouldLookOnceMoreBeforeALaterDeadlineWhenTheProgramSleeps() {
        leaveTo(here);
        here.arm(false);

        sleep.look(now + 1);
        sleep.plan(now + 1, now + 10 * LOOK, false);

        assertThat(sleep.interest()).isEqualTo(Poller.IN);
        assertThat(sleep.wakesAt()).isEqualTo(now + LOOK);
    }

    @Test
    void shouldWatchTheSocketAgainForTheOneThatGoesToSleep() {
        leaveTo(here);
        here.arm(false);

        sleep.watchForSleepers();

        assertThat(sleep.interest()).isEqualTo(Poller.IN);
    }

    @Test
    void shouldLeaveTheSocketUnwatchedForASleeperBesideOneThatPolls() {
        leaveTo(there);
        polls(there, now + 1);
        here.arm(false);

        sleep.watchForSleepers();

        assertThat(sleep.interest()).isZero();
    }

    /**
     * Times of a look as the unit.
     *
     * @param wakes of the thread; -1 if it is awake
     * @param due -1 for nothing
     */
    @ParameterizedTest
    @CsvSource({
        "10, -1, false, false",
        "10, -1, true, false",
        "10, 0, true, true", // else the program serves it
        "10, 0, false, true", // but the thread is to look
        "10, 5, false, true",
        "10, 5, true, true",
        "10, 10, true, false",
        "1, 0, false, false",
        "1, 0, true, true",
        "1, 1, true, false",
        "0, 0, true, true",
        "-1, 0, true, true",
        "-1, 0, false, false",
        "-1, 5, true, false",
    })
    void shouldBeTooLongForWhatIsDueBeforeItsEnd(
            int wakes, int due, boolean toSleep, boolean tooLong) {
        if (wakes >= 0) {
            sleep.look(now);
            sleep.plan(now, now + wakes * LOOK, false);
        }

        long deadline = due < 0 ? Adapter.NO_DEADLINE : now + due * LOOK;
        assertThat(sleep.isTooLong(now, deadline, toSleep)).isEqualTo(tooLong);
    }

    @Test
    void shouldNotBeTooLongOnceItIsBeingEnded() {
        sleep.look(now);
        sleep.plan(now, Adapter.NO_DEADLINE, false);
        assertThat(sleep.isTooLong(now, now + 2 * LOOK, false)).isTrue();

        sleep.end();

        assertThat(sleep.isTooLong(now, now + 2 * LOOK, false)).isFalse();
    }

    @Test
    void shouldEndByAWake() {
        sleep.look(now);
        sleep.plan(now, Adapter.NO_DEADLINE, false);
        sleep.wake();
        sleep.begin();

        assertThat(sleep.awaitEvent()).as("sleeps on").isFalse();
    }

    /** A program that polls may have taken it: a wait for it would be one without an end. */
    @Test
    void shouldHaveThePacketThatHasEndedItUnlessAProgramPolls() throws IOException {
        sleep.look(now);
        sleep.plan(now, Adapter.NO_DEADLINE, false);
        sleep.begin();
        sendPacket();
        assertThat(sleep.awaitEvent()).as("sleeps on").isFalse();
        sleep.look(now);
        assertThat(sleep.hasPackets()).as("nobody else takes it").isTrue();

        polls(here, now);
        sleep.look(now);
        assertThat(sleep.hasPackets()).as("it polls").isFalse();
        sleep.look(now + LOOK);
        assertThat(sleep.hasPackets()).as("it does not any more").isTrue();
        polls(here, now + LOOK);
        here.arm(false);
        sleep.look(now + LOOK);
        assertThat(sleep.hasPackets()).as("it sleeps").isTrue();

        sleep.skip();
        assertThat(sleep.hasPackets()).as("there was no sleep").isFalse();
    }

    private void sendPacket() throws IOException {
        try (DatagramSocket peer = new DatagramSocket()) {
            peer.send(new DatagramPacket(new byte[1], 1, socket.localAddress()));
        }
    }

    @Test
    void shouldGoOnWithLooksWhileAProgramPolls() {
        long past = System.nanoTime();
        polls(here, past);
        sleep.look(past);
        sleep.plan(past, Adapter.NO_DEADLINE, false);
        polls(here, past + 1);
        sleep.begin();

        assertThat(sleep.awaitEvent()).as("has polled").isTrue();
        here.arm(false);
        assertThat(sleep.awaitEvent()).as("sleeps").isFalse();
    }
}
