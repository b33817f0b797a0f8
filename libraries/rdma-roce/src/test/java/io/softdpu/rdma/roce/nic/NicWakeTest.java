package io.softdpu.rdma.roce.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.OutgoingDatagrams;
import io.softdpu.linux.UdpSocket;
import io.softdpu.linux.event.Poller;
import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.capture.CaptureWriter;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.testkit.LogCapture;
import io.softdpu.testkit.SeededRandom;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Wake-ups of the thread of a NIC by programs that drive it; the thread is not there. */
class NicWakeTest {
    private static final Gid ADDRESS = Gid.ofAddress(new byte[] {127, 99, 0, 9});

    /** Passes that a program makes for others. */
    private static final int PASSES = 4;

    private final Nic nic = Nic.open(ADDRESS, NicOptions.DEFAULTS); // not driven, for endpoints
    private final List<NicEndpoint> endpoints = new ArrayList<>();
    private final Sleep sleep = new Sleep(endpoints);
    private final NicEndpoint here = BareEndpoint.of(nic);
    private final NicEndpoint there = BareEndpoint.of(nic);
    private UdpSocket socket;
    private CaptureWriter capture;
    private NicLoop loop;

    /** Sleep of the absent thread, which counts what would end it. */
    private static final class Sleep extends NicSleep {
        private int wakes;
        private int passes;

        /** Runs in each pass of a program. */
        private Runnable meanwhile = () -> {};

        Sleep(List<NicEndpoint> endpoints) {
            super(endpoints);
        }

        @Override
        void wake() {
            wakes++;
            super.wake();
        }

        @Override
        boolean isTooLong(long now, long due, boolean toSleep) {
            passes++;
            meanwhile.run();
            return super.isTooLong(now, due, toSleep);
        }
    }

    @BeforeEach
    void open(@TempDir Path folder, SeededRandom random) throws IOException {
        socket = open(ADDRESS);
        capture = CaptureWriter.create(folder.resolve("packets.pcap"));
        loop =
                new NicLoop(
                        ADDRESS.withPort(socket.localAddress().getPort()),
                        socket,
                        NicOptions.DEFAULTS.withCapture(capture),
                        random,
                        endpoints,
                        sleep);
        loop.prepare();
        loop.add(here);
        loop.add(there);
        loop.post(() -> {}); // a turn that has work does not sleep
        loop.turn();
        sleep.wakes = 0;
    }

    @AfterEach
    void close() {
        loop.close();
        capture.close();
        nic.release();
    }

    private static UdpSocket open(Gid address) throws UnknownHostException {
        return UdpSocket.open(
                new InetSocketAddress(InetAddress.getByAddress(address.addressBytes()), 0));
    }

    /** The thread has stepped aside for an endpoint, and sleeps until its next look. */
    private void leaveTo(NicEndpoint endpoint) {
        long now = System.nanoTime();
        endpoint.driven(now - 1);
        endpoint.driven(now);
        sleep.look(now);
        sleep.plan(now, Adapter.NO_DEADLINE, false);
        assertThat(sleep.interest()).isZero();
    }

    /** The thread sleeps, and does not look, since no program polls. */
    private void sleepLong() {
        long later = System.nanoTime() + 10 * NicSleep.LOOK_NANOS;
        sleep.look(later);
        sleep.plan(later, Adapter.NO_DEADLINE, false);
        assertThat(sleep.interest()).isEqualTo(Poller.IN);
    }

    /** A packet that is not one waits in the socket. */
    private void receive() throws UnknownHostException {
        UdpSocket peer = open(ADDRESS);
        try {
            OutgoingDatagrams batch = peer.newOutgoing(1, 64);
            long _ = batch.next();
            batch.add(ADDRESS.high(), ADDRESS.low(), socket.localAddress().getPort(), 64);
            assertThat(peer.send(batch)).isOne();
        } finally {
            peer.close();
        }
    }

    @Test
    void shouldWakeNobodyInAPassWithoutWork() {
        sleepLong();

        loop.drive(here, false);

        assertThat(sleep.passes).isOne();
        assertThat(sleep.wakes).isZero();
    }

    @Test
    void shouldWakeAThreadThatSleepsBeyondWhatIsDue() throws IOException {
        sleepLong();
        receive();

        loop.drive(here, false); // what is recorded is due at once

        assertThat(capture.hasPackets()).isTrue();
        assertThat(sleep.wakes).isOne();
        loop.drive(here, false);
        assertThat(sleep.wakes).as("being awake").isOne();
    }

    @Test
    void shouldLeaveWhatIsDueToTheThreadAtTheSleepOfTheProgramAlone() throws IOException {
        leaveTo(here);
        receive();
        loop.drive(here, false);
        assertThat(capture.hasPackets()).isTrue();
        assertThat(sleep.wakes).as("it looks soon").isZero();

        here.arm(false);
        loop.drive(here, false);

        assertThat(sleep.wakes).isOne();
    }

    @Test
    void shouldHaveTheSocketWatchedFromTheSleepOfTheProgramOn() {
        leaveTo(here);
        loop.drive(here, false);
        assertThat(sleep.interest()).as("it polls").isZero();

        here.arm(false);
        loop.drive(here, false);

        assertThat(sleep.interest()).isEqualTo(Poller.IN);
    }

    /** Another engine has armed, and left a note in place of a pass. */
    @Test
    void shouldHaveTheSocketWatchedForAnEngineThatGoesToSleepMeanwhile() {
        leaveTo(there);
        sleep.meanwhile =
                () -> {
                    sleep.meanwhile = () -> {};
                    there.arm(false);
                    loop.drive(there, false);
                };

        loop.drive(here, false);

        assertThat(sleep.passes).isEqualTo(2);
        assertThat(sleep.interest()).isEqualTo(Poller.IN);
        assertThat(sleep.wakes).isZero();
    }

    @Test
    void shouldLeaveToTheThreadWhatOthersPublishInEachPass() {
        sleepLong();
        sleep.meanwhile = () -> loop.drive(there, true);

        loop.drive(here, false);

        assertThat(sleep.passes).isEqualTo(PASSES);
        assertThat(sleep.wakes).isOne();
    }

    @Test
    void shouldWakeTheThreadAfterAFailure() {
        sleepLong();
        sleep.meanwhile =
                () -> {
                    throw new IllegalStateException("in a pass");
                };

        try (LogCapture _ = new LogCapture(NicLoop.class.getName())) {
            loop.drive(here, false);
        }

        assertThat(sleep.wakes).isOne();
        assertThat(loop.failures()).isOne();
        sleep.meanwhile = () -> {};
        loop.drive(here, false);
        assertThat(sleep.passes).as("the NIC is free").isEqualTo(2);
    }

    @Test
    void shouldStepAsideInATurnBesideAProgramThatPolls() {
        long now = System.nanoTime();
        here.driven(now - 1);
        here.driven(now);
        sleep.wake(); // so that it does not wait

        loop.turn();

        assertThat(sleep.interest()).isZero();
        assertThat(sleep.wakesAt()).isLessThan(System.nanoTime() + 2 * NicSleep.LOOK_NANOS);
    }
}
