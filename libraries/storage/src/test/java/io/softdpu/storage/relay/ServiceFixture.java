package io.softdpu.storage.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.control.ChannelEnd;
import io.softdpu.storage.control.ConsumerListener;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.control.ControlChannels;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.testkit.Patience;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * Base of the tests of a service between a scripted target and a scripted initiator: the machines,
 * both peers, and the service with its end.
 */
abstract class ServiceFixture {
    /** A timeout that is waited for; within it the service finds the target of the test. */
    static final long SHORT = 2_000_000_000L;

    static final String NAME = "service";
    static final ControlPayload QUERY = new ControlPayload.QueryStorageRequest();

    @TempDir Path folder;
    Machine host;
    Machine dpu;
    Device hostDevice;
    ChannelEnd target;
    ChannelEnd initiator;
    ZeroCopyService service;
    CompletableFuture<SessionReport> end;
    int lastMessageId = 100;
    String deviceOfTheService = "03:00.0";
    String representorOfTheService = "0b:00.0";
    List<CpuBinding> cpusOfTheService = List.of(CpuBinding.any(), CpuBinding.any());

    @BeforeEach
    void openMachinesAndTarget() {
        host = Machine.builder(Side.HOST).fabricFolder(folder).open();
        dpu = Machine.builder(Side.DPU).fabricFolder(folder).open();
        hostDevice = host.findDevice("pf0").open();
        target = ChannelEnd.tcpServer("target");
    }

    @AfterEach
    void closeAll() {
        if (initiator != null) {
            initiator.close();
        }
        target.close();
        service.close();
        hostDevice.close();
        host.close();
        dpu.close();
    }

    void query() {
        assertAnswer(
                QUERY,
                request -> request.reply(new ControlPayload.QueryStorageResponse(1 << 20, 512)),
                new ControlPayload.QueryStorageResponse(1 << 20, 512));
    }

    CompletableFuture<ControlMessage> ask(ControlPayload request, int correlationId) {
        int id = ++lastMessageId;
        return initiator.begin(c -> {
            c.send(new ControlMessage(id, correlationId, request));
            return c.receive(Patience.LIMIT);
        });
    }

    void assertAnswer(
            ControlPayload request,
            java.util.function.UnaryOperator<ControlMessage> reply,
            ControlPayload expected) {
        CompletableFuture<ControlMessage> answer = ask(request, 5);
        target.run(c -> c.send(reply.apply(c.receive(Patience.LIMIT))));
        assertThat(ChannelEnd.await(answer))
                .isEqualTo(new ControlMessage(lastMessageId, 5, expected));
    }

    CountDownLatch start(long controlTimeoutNanos, SessionStep awaited) {
        CountDownLatch reached = new CountDownLatch(1);
        InetSocketAddress address = target.address();
        ServiceOptions.Builder options =
                ServiceOptions.builder()
                        .device(deviceOfTheService)
                        .representor(representorOfTheService)
                        .storageServer(address)
                        .commandChannelName(NAME)
                        .controlTimeout(Duration.ofNanos(controlTimeoutNanos));
        cpusOfTheService.forEach(options::cpu);
        service =
                ZeroCopyService.open(
                        dpu,
                        options.build(),
                        new SessionListener() {
                            @Override
                            public void step(SessionStep step, String detail) {
                                if (step == awaited) {
                                    reached.countDown();
                                }
                            }
                        });
        end = Pipeline.begin(service);
        return reached;
    }

    void connectTarget(long controlTimeoutNanos) {
        CompletableFuture<Void> accepting =
                target.beginDo(c -> c.awaitConnected(Deadline.NO_LIMIT));
        CountDownLatch waiting = start(controlTimeoutNanos, SessionStep.WAITING_FOR_CLIENT);
        ChannelEnd.await(accepting);
        Pipeline.await(waiting);
    }

    void connectAll(long controlTimeoutNanos) {
        connectTarget(controlTimeoutNanos);
        connectInitiator(hostDevice);
    }

    void connectInitiator(Device device) {
        ProgressEngine[] engine = new ProgressEngine[1];
        initiator =
                new ChannelEnd(
                        "initiator",
                        () -> {
                            engine[0] = ProgressEngine.create();
                            return ControlChannels.makeComchClient(
                                    engine[0],
                                    device,
                                    NAME,
                                    ConsumerListener.none(),
                                    Patience.LIMIT);
                        },
                        () -> engine[0].close());
        initiator.run(c -> c.awaitConnected(Patience.LIMIT));
    }

    /** Also checks the final error that the service sends to its initiator. */
    void assertFailed(Status status, String reason) {
        CompletableFuture<Void> listening =
                initiator == null
                        ? CompletableFuture.completedFuture(null)
                        : initiator.beginDo(ServiceFixture::listenUntilTheEnd);
        DpuException failure = catchThrowableOfType(DpuException.class, () -> Pipeline.await(end));
        ChannelEnd.await(listening);
        assertThat(failure.status()).isEqualTo(status);
        assertThat(failure).hasMessageContaining(reason);
        assertThat(service.report().status()).isEqualTo(status);
        assertThat(service.report().failure()).isEqualTo(failure.getMessage());
    }

    static void listenUntilTheEnd(ControlChannel channel) {
        DpuException goodbye =
                catchThrowableOfType(
                        DpuException.class,
                        () -> {
                            while (true) {
                                channel.receive(Patience.LIMIT);
                            }
                        });
        assertThat(goodbye.status()).isIn(Status.CONNECTION_RESET, Status.BAD_STATE);
    }
}
