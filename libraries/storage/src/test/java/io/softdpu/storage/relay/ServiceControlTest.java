package io.softdpu.storage.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.control.ConsumerListener;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.control.ControlChannels;
import io.softdpu.storage.control.End;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.testkit.Clause;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real service between a target and an initiator that say what the test wants. */
class ServiceControlTest {
    private static final long LONG = End.DEADLINE_NANOS / 2;
    private static final long SHORT = 300_000_000L;
    private static final String NAME = "service";
    private static final ControlPayload QUERY = new ControlPayload.QueryStorageRequest();

    @TempDir private Path folder;
    private Machine host;
    private Machine dpu;
    private Device hostDevice;
    private End target;
    private End initiator;
    private ZeroCopyService service;
    private CompletableFuture<SessionReport> end;
    private int lastMessageId = 100;

    @BeforeEach
    void openMachinesAndTarget() {
        host = Machine.builder(Side.HOST).fabricFolder(folder).open();
        dpu = Machine.builder(Side.DPU).fabricFolder(folder).open();
        hostDevice = host.findDevice("pf0").open();
        target = End.tcpServer("target");
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

    @Test
    @Clause({"sto-010", "sto-013", "sto-058", "sto-059"})
    void shouldRelayAQueryWithAnIdOfItsOwnAndTheInitiatorsCorrelation() {
        connectAll(LONG);
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(LONG));
        CompletableFuture<ControlMessage> answer = ask(QUERY, 4711);

        ControlMessage relayed = End.await(asked);
        assertThat(relayed.payload()).isEqualTo(QUERY);
        assertThat(relayed.correlationId()).isEqualTo(4711);
        assertThat(relayed.messageId()).isNotEqualTo(lastMessageId);
        ControlPayload size = new ControlPayload.QueryStorageResponse(1 << 20, 512);
        target.run(c -> c.send(relayed.reply(size)));

        assertThat(End.await(answer)).isEqualTo(new ControlMessage(lastMessageId, 4711, size));
    }

    @Test
    @Clause("sto-060")
    void shouldPassAnErrorOfTheTargetOnVerbatim() {
        connectAll(LONG);
        ControlPayload.ErrorResponse error =
                new ControlPayload.ErrorResponse(0x7777, "the disk is on fire");

        assertAnswer(QUERY, request -> request.reply(error), error);
        assertFailed(Status.UNKNOWN, "the disk is on fire");
    }

    @Test
    @Clause("sto-014")
    void shouldTellBothThatTheTargetAnsweredWithAnotherType() {
        connectAll(LONG);
        String reason = "got=stop_storage_response, expected=query_storage_response";

        ControlPayload.ErrorResponse error =
                answerError(request -> request.reply(new ControlPayload.StopStorageResponse()));

        assertThat(error.status()).isEqualTo(Status.UNEXPECTED);
        assertThat(error.message()).contains(reason);
        assertFailed(Status.UNEXPECTED, reason);
    }

    @Test
    @Clause({"sto-044", "sto-036"})
    void shouldTellBothThatTheTargetDidNotAnswerInTime() {
        connectAll(SHORT);

        ControlMessage answer = End.await(ask(QUERY, 1));

        ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) answer.payload();
        assertThat(error.status()).isEqualTo(Status.TIME_OUT);
        assertThat(error.message())
                .contains("from=tcp://", "request=query_storage_request", "waited_ms=");
        assertFailed(Status.TIME_OUT, "query_storage_request");
    }

    @Test
    void shouldTellTheInitiatorThatTheTargetWentWhileItWasAsked() {
        connectAll(LONG);
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(LONG));
        CompletableFuture<ControlMessage> answer = ask(QUERY, 1);
        End.await(asked);
        target.run(ControlChannel::close);

        ControlPayload.ErrorResponse error =
                (ControlPayload.ErrorResponse) End.await(answer).payload();
        assertThat(error.status()).isEqualTo(Status.CONNECTION_RESET);
        assertFailed(Status.CONNECTION_RESET, "peer has gone");
    }

    @Test
    void shouldNotTakeWhatTheInitiatorSaysForTheReasonWhyTheTargetWent() {
        connectAll(LONG);
        ControlPayload.ErrorResponse word =
                ControlPayload.ErrorResponse.of(Status.INVALID_VALUE, "initiator's own reason");
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(LONG));
        initiator.run(c -> {
            c.send(new ControlMessage(1, 1, QUERY));
            c.send(new ControlMessage(0, 0, word));
        });
        End.await(asked);
        target.run(ControlChannel::close);

        assertFailed(Status.CONNECTION_RESET, "peer has gone: peer=tcp://");
    }

    @Test
    void shouldEndWhenTheInitiatorGoesWhileTheTargetIsAsked() {
        connectAll(LONG);
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(LONG));
        initiator.run(c -> c.send(new ControlMessage(1, 1, QUERY)));
        End.await(asked);
        initiator.run(ControlChannel::close);

        assertFailed(Status.CONNECTION_RESET, "peer has gone: peer=client of comch://" + NAME);
    }

    @Test
    void shouldGiveUpAnInitiatorThatFallsSilentAndTellBoth() {
        connectAll(SHORT);
        String reason =
                "initiator has fallen silent: peer=client of comch://"
                        + NAME
                        + ", expected=query_storage_request";

        CompletableFuture<ControlMessage> atTarget = target.begin(c -> c.receive(LONG));
        ControlMessage atInitiator = initiator.call(c -> c.receive(LONG));

        for (ControlMessage farewell : List.of(atInitiator, End.await(atTarget))) {
            assertThat(farewell.messageId()).isZero();
            var error = (ControlPayload.ErrorResponse) farewell.payload();
            assertThat(error.status()).isEqualTo(Status.TIME_OUT);
            assertThat(error.message()).contains("zero-copy gave the session up: reason=" + reason);
        }
        assertFailed(Status.TIME_OUT, reason);
    }

    @Test
    void shouldEndWhenTheTargetGoesBeforeAnInitiatorHasCome() {
        connectTarget(LONG);
        target.run(ControlChannel::close);

        assertFailed(Status.CONNECTION_RESET, "peer has gone");
    }

    @Test
    void shouldEndWhenTheTargetSpeaksUnasked() {
        connectAll(LONG);
        target.run(c -> c.send(new ControlMessage(9, 9, new ControlPayload.ShutdownRequest())));

        assertFailed(Status.UNEXPECTED, "got=shutdown_request, expected=none");
    }

    @Test
    void shouldSayInTheTargetsOwnWordsThatItIsNotServed() {
        connectTarget(LONG);
        ControlPayload busy =
                ControlPayload.ErrorResponse.of(Status.FULL, "serves another client: client=a");
        target.run(c -> c.send(new ControlMessage(0, 0, busy)));

        assertFailed(Status.FULL, "serves another client: client=a");
    }

    @Test
    void shouldSayInTheTargetsOwnWordsThatItWasAborted() {
        connectTarget(LONG);
        ControlPayload.ErrorResponse word =
                ControlPayload.ErrorResponse.of(Status.CONNECTION_ABORTED, "target was aborted");
        target.run(c -> c.send(new ControlMessage(0, 0, word)));

        assertFailed(Status.CONNECTION_ABORTED, "target was aborted");
        assertThat(service.report().failure()).doesNotContain("Aborted while connecting");
    }

    @Test
    @Clause({"sto-009", "sto-011"})
    void shouldRefuseARequestWhoseTurnItIsNot() {
        connectAll(LONG);

        ControlMessage answer = End.await(ask(new ControlPayload.StartStorageRequest(), 3));

        ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) answer.payload();
        assertThat(error.status()).isEqualTo(Status.UNEXPECTED);
        assertThat(error.message())
                .contains("got=start_storage_request, expected=query_storage_request");
        assertFailed(Status.UNEXPECTED, "got=start_storage_request");
    }

    @Test
    @Clause({
        "sto-063", "sto-065", "sto-067", "sto-068", "sto-069", "sto-070", "sto-072", "sto-075",
        "sto-076", "sto-077", "sto-104"
    })
    void shouldDoubleTheTransactionsReexportTheMemoryAndConnectEachCoreTwice() {
        connectAll(LONG);
        query();
        try (SharedMemory memory = SharedMemory.allocate(8192);
                Mmap mmap = exportable(memory)) {
            Blob export = Blob.of(mmap.exportPci(hostDevice));
            CompletableFuture<ControlMessage> answer =
                    ask(new ControlPayload.InitStorageRequest(5, 2, export), 8);

            ControlMessage init = target.call(c -> c.receive(LONG));
            var relayed = (ControlPayload.InitStorageRequest) init.payload();
            assertThat(init.correlationId()).isEqualTo(8);
            assertThat(relayed.transactionCount()).isEqualTo(10);
            assertThat(relayed.coreCount()).isEqualTo(2);
            assertThat(relayed.mmapExport()).isNotEqualTo(export);
            try (Machine machine = Machine.builder(Side.TARGET).fabricFolder(folder).open();
                    Device device = machine.findDevice("t0").open();
                    Mmap imported =
                            Mmap.createFromExport(
                                    relayed.mmapExport().bytes(), device, Mapping.ACCESS, LONG)) {
                assertThat(imported.sizeBytes()).isEqualTo(8192);
            }
            target.run(c -> c.send(init.reply(new ControlPayload.InitStorageResponse())));

            // What is asked next, in this order; the answers are no real connections.
            for (int core = 0; core < 2; core++) {
                for (RdmaConnectionRole role : RdmaConnectionRole.values()) {
                    ControlMessage create = target.call(c -> c.receive(LONG));
                    var connection = (ControlPayload.CreateRdmaConnectionRequest) create.payload();
                    assertThat(connection.contextIndex()).isEqualTo(core);
                    assertThat(connection.role()).isEqualTo(role);
                    if (core == 1 && role == RdmaConnectionRole.IO_CONTROL) {
                        target.run(c ->
                                c.send(
                                        create.reply(
                                                new ControlPayload.CreateRdmaConnectionResponse(
                                                        0, role, connection.connectionDetails()))));
                        break;
                    }
                    target.run(c -> c.send(create.reply(connectedTo(connection))));
                }
            }

            ControlPayload.ErrorResponse error =
                    (ControlPayload.ErrorResponse) End.await(answer).payload();
            assertThat(error.status()).isEqualTo(Status.UNEXPECTED);
            assertThat(error.message()).contains("got=0 IO_CONTROL, expected=1 IO_CONTROL");
            // The service's consumers wait for the initiator to let go of their memory.
            initiator.run(ControlChannel::close);
            assertFailed(Status.UNEXPECTED, "connected another context");
        }
    }

    @Test
    @Clause("sto-071")
    void shouldRefuseAnExportThatIsNone() {
        connectAll(LONG);
        query();

        ControlMessage answer =
                End.await(
                        ask(
                                new ControlPayload.InitStorageRequest(
                                        4, 1, Blob.of(new byte[] {1, 2, 3})),
                                1));

        ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) answer.payload();
        assertThat(error.status()).isEqualTo(Status.INVALID_VALUE);
        assertFailed(Status.INVALID_VALUE, "");
    }

    @Test
    void shouldRefuseMoreTransactionsThanItsLimit() {
        connectAll(LONG);
        query();

        ControlMessage answer =
                End.await(
                        ask(
                                new ControlPayload.InitStorageRequest(
                                        1_000_000_000, 1, Blob.of(new byte[] {1})),
                                1));

        ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) answer.payload();
        assertThat(error.status()).isEqualTo(Status.INVALID_VALUE);
        assertThat(error.message()).contains("transaction_count=1000000000, expected=1 to 4096");
        assertFailed(Status.INVALID_VALUE, "transaction_count");
    }

    @Test
    @Clause({"sto-054", "sto-006"})
    void shouldGiveUpLookingForTheTargetWhenAborted() {
        target.run(ControlChannel::close);
        CountDownLatch looking = start(LONG, SessionStep.CONNECTING_TO_STORAGE);
        Pipeline.await(looking);

        service.abort("User requested abort");

        assertFailed(
                Status.CONNECTION_ABORTED,
                "Aborted while connecting to storage: reason=User requested abort");
    }

    @Test
    void shouldSayThatTheTargetIsNotThere() {
        target.run(ControlChannel::close);
        start(SHORT, SessionStep.CONNECTING_TO_STORAGE);

        assertFailed(Status.TIME_OUT, "storage target did not answer");
    }

    @Test
    @Clause({"sto-056", "sto-055"})
    void shouldGiveUpWaitingForAnInitiatorWhenAborted() {
        connectTarget(LONG);

        service.abort("User requested abort");

        assertFailed(
                Status.CONNECTION_ABORTED,
                "Aborted while connecting to client: reason=User requested abort");
    }

    @Test
    @Clause("sto-046")
    void shouldGiveUpWaitingForARequestWhenAborted() {
        connectAll(LONG);

        service.abort("User requested abort");
        service.abort("too late to count");

        assertFailed(Status.CONNECTION_ABORTED, "User requested abort");
    }

    @Test
    void shouldGiveUpWaitingForTheTargetsAnswerWhenAborted() {
        connectAll(LONG);
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(LONG));
        initiator.run(c -> c.send(new ControlMessage(1, 1, QUERY)));
        End.await(asked);

        service.abort("User requested abort");

        assertFailed(Status.CONNECTION_ABORTED, "User requested abort");
    }

    // ---- the other two

    private void query() {
        assertAnswer(
                QUERY,
                request -> request.reply(new ControlPayload.QueryStorageResponse(1 << 20, 512)),
                new ControlPayload.QueryStorageResponse(1 << 20, 512));
    }

    private CompletableFuture<ControlMessage> ask(ControlPayload request, int correlationId) {
        int id = ++lastMessageId;
        return initiator.begin(c -> {
            c.send(new ControlMessage(id, correlationId, request));
            return c.receive(LONG);
        });
    }

    private void assertAnswer(
            ControlPayload request,
            java.util.function.UnaryOperator<ControlMessage> reply,
            ControlPayload expected) {
        CompletableFuture<ControlMessage> answer = ask(request, 5);
        target.run(c -> c.send(reply.apply(c.receive(LONG))));
        assertThat(End.await(answer)).isEqualTo(new ControlMessage(lastMessageId, 5, expected));
    }

    private ControlPayload.ErrorResponse answerError(
            java.util.function.UnaryOperator<ControlMessage> reply) {
        CompletableFuture<ControlMessage> answer = ask(QUERY, 5);
        target.run(c -> c.send(reply.apply(c.receive(LONG))));
        ControlMessage message = End.await(answer);
        assertThat(message.type()).isEqualTo(ControlMessageType.ERROR_RESPONSE);
        assertThat(message.messageId()).isEqualTo(lastMessageId);
        return (ControlPayload.ErrorResponse) message.payload();
    }

    /** An answer with the right shape; that its details lead nowhere is found out later. */
    private static ControlPayload connectedTo(ControlPayload.CreateRdmaConnectionRequest request) {
        return new ControlPayload.CreateRdmaConnectionResponse(
                request.contextIndex(), request.role(), request.connectionDetails());
    }

    private Mmap exportable(SharedMemory memory) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(
                        Permissions.of(
                                AccessFlag.LOCAL_READ_WRITE,
                                AccessFlag.PCI_READ_WRITE,
                                AccessFlag.RDMA_READ,
                                AccessFlag.RDMA_WRITE))
                .addDevice(hostDevice)
                .start();
    }

    private CountDownLatch start(long controlTimeoutNanos, SessionStep awaited) {
        CountDownLatch reached = new CountDownLatch(1);
        InetSocketAddress address = target.address();
        ServiceOptions options =
                ServiceOptions.builder()
                        .device("03:00.0")
                        .representor("0b:00.0")
                        .cpu(CpuBinding.any())
                        .cpu(CpuBinding.any())
                        .storageServer(address)
                        .commandChannelName(NAME)
                        .controlTimeoutNanos(controlTimeoutNanos)
                        .build();
        service =
                ZeroCopyService.open(
                        dpu,
                        options,
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

    private void connectTarget(long controlTimeoutNanos) {
        CompletableFuture<Void> accepting =
                target.beginDo(c -> c.awaitConnected(ControlChannel.NO_TIMEOUT));
        CountDownLatch waiting = start(controlTimeoutNanos, SessionStep.WAITING_FOR_CLIENT);
        End.await(accepting);
        Pipeline.await(waiting);
    }

    private void connectAll(long controlTimeoutNanos) {
        connectTarget(controlTimeoutNanos);
        ProgressEngine[] engine = new ProgressEngine[1];
        initiator =
                new End(
                        "initiator",
                        () -> {
                            engine[0] = ProgressEngine.create();
                            return ControlChannels.makeComchClient(
                                    engine[0], hostDevice, NAME, ConsumerListener.none(), LONG);
                        },
                        () -> engine[0].close());
        initiator.run(c -> c.awaitConnected(LONG));
    }

    /** The service says goodbye before it ends, and a real initiator would listen. */
    private void assertFailed(Status status, String reason) {
        CompletableFuture<Void> listening =
                initiator == null
                        ? CompletableFuture.completedFuture(null)
                        : initiator.beginDo(ServiceControlTest::listenUntilTheEnd);
        DpuException failure = catchThrowableOfType(DpuException.class, () -> Pipeline.await(end));
        End.await(listening);
        assertThat(failure.status()).isEqualTo(status);
        assertThat(failure).hasMessageContaining(reason);
        assertThat(service.report().status()).isEqualTo(status);
        assertThat(service.report().failure()).isEqualTo(failure.getMessage());
    }

    private static void listenUntilTheEnd(ControlChannel channel) {
        DpuException goodbye =
                catchThrowableOfType(
                        DpuException.class,
                        () -> {
                            while (true) {
                                channel.receive(LONG);
                            }
                        });
        assertThat(goodbye.status()).isIn(Status.CONNECTION_RESET, Status.BAD_STATE);
    }
}
