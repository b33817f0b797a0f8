package io.softdpu.storage.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.control.ChannelEnd;
import io.softdpu.storage.control.ConsumerListener;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.control.ControlChannels;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Service that connects to a scripted target and waits for a scripted initiator. */
class ServiceConnectTest extends ServiceFixture {
    @Test
    void shouldEndWhenTheTargetGoesBeforeAnInitiatorHasCome() {
        connectTarget(Patience.NANOS);
        target.run(ControlChannel::close);

        assertFailed(Status.CONNECTION_RESET, "peer has ended");
    }

    @Test
    void shouldSayInTheTargetsOwnWordsThatItIsNotServed() {
        connectTarget(Patience.NANOS);
        ControlPayload busy =
                ControlPayload.ErrorResponse.of(Status.FULL, "serves another client: client=a");
        target.run(c -> c.send(new ControlMessage(0, 0, busy)));

        assertFailed(Status.FULL, "serves another client: client=a");
    }

    @Test
    void shouldSayInTheTargetsOwnWordsThatItWasAborted() {
        connectTarget(Patience.NANOS);
        ControlPayload.ErrorResponse word =
                ControlPayload.ErrorResponse.of(Status.CONNECTION_ABORTED, "target was aborted");
        target.run(c -> c.send(new ControlMessage(0, 0, word)));

        assertFailed(Status.CONNECTION_ABORTED, "target was aborted");
        assertThat(service.report().failure()).doesNotContain("Aborted while connecting");
    }

    @Test
    @Clause("sto-054")
    void shouldGiveUpLookingForTheTargetWhenAborted() {
        target.run(ControlChannel::close);
        CountDownLatch looking = start(Patience.NANOS, SessionStep.CONNECTING_TO_STORAGE);
        Pipeline.await(looking);

        service.abort("User requested abort");

        assertFailed(
                Status.CONNECTION_ABORTED,
                "Aborted while connecting to storage: reason=User requested abort");
        assertThat(service.report().failure()).startsWith("Aborted while connecting to storage: ");
    }

    @Test
    void shouldSayThatTheTargetIsNotThere() {
        target.run(ControlChannel::close);
        start(TimeUnit.MILLISECONDS.toNanos(50), SessionStep.CONNECTING_TO_STORAGE);

        assertFailed(Status.TIME_OUT, "storage target did not reply");
    }

    @Test
    @Clause({"sto-006", "sto-052", "sto-055"})
    void shouldFindTheTargetItIsToldAndNoticeAnInitiatorThatComesLater() {
        target.close();
        target = ChannelEnd.tcpServer("target", new InetSocketAddress("127.0.0.2", 0));
        connectTarget(SHORT);
        // An initiator may come when it likes: the control timeout does not hold for that.
        DpuException silence =
                catchThrowableOfType(
                        DpuException.class,
                        () -> target.run(c -> c.receive(Duration.ofNanos(2 * SHORT))));
        assertThat(silence).as("the target is told nothing").isNotNull();
        assertThat(silence.status()).isEqualTo(Status.TIME_OUT);
        assertThat(end).isNotDone();
        connectInitiator(hostDevice);
        query();

        service.abort("User requested abort");

        assertFailed(Status.CONNECTION_ABORTED, "User requested abort");
    }

    @Test
    @Clause({"sto-048", "sto-049"})
    void shouldServeOnTheDeviceBehindTheRepresentorThatItIsTold() {
        deviceOfTheService = "03:00.1";
        representorOfTheService = "0b:00.4";
        connectTarget(Patience.NANOS);
        for (String other : List.of("pf0", "pf1")) {
            try (Device device = host.findDevice(other).open();
                    ProgressEngine engine = ProgressEngine.create();
                    ControlChannel client =
                            ControlChannels.makeComchClient(
                                    engine,
                                    device,
                                    NAME,
                                    ConsumerListener.none(),
                                    Duration.ofMillis(50))) {
                DpuException failure =
                        catchThrowableOfType(
                                DpuException.class, () -> client.awaitConnected(Patience.LIMIT));
                assertThat(failure.status()).as(other).isEqualTo(Status.NOT_FOUND);
            }
        }
        hostDevice.close();
        hostDevice = host.findDevice("pf1vf0").open();
        connectInitiator(hostDevice);
        query();

        service.abort("User requested abort");

        assertFailed(Status.CONNECTION_ABORTED, "User requested abort");
    }

    @Test
    @Clause("sto-056")
    void shouldGiveUpWaitingForAnInitiatorWhenAborted() {
        connectTarget(Patience.NANOS);

        service.abort("User requested abort");

        assertFailed(
                Status.CONNECTION_ABORTED,
                "Aborted while connecting to client: reason=User requested abort");
    }
}
