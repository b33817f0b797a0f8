package io.softdpu.storage.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.control.ChannelEnd;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.testkit.Patience;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Target with a scripted service. */
class TargetControlTest {
    private static final long SHORT = 300_000_000L;
    private static final Blob SOME_BYTES = Blob.of(new byte[] {1, 2, 3});

    @TempDir private Path folder;
    private Machine machine;
    private StorageTarget target;
    private CompletableFuture<SessionReport> end;
    private ChannelEnd service;
    private int lastMessageId;

    @BeforeEach
    void startTarget() {
        machine = Machine.builder(Side.TARGET).fabricFolder(folder).open();
        target = openTarget(0);
        end = Pipeline.begin(target);
        service = connect();
    }

    @AfterEach
    void closeAll() {
        service.close();
        target.close();
        machine.close();
    }

    @Test
    void shouldTellTheSizeOfItsVolume() {
        service.run(c -> c.awaitConnected(Patience.LIMIT));

        assertThat(ask(new ControlPayload.QueryStorageRequest()))
                .isEqualTo(new ControlPayload.QueryStorageResponse(64 << 10, 4096));
    }

    @Test
    void shouldRefuseARequestWhoseTurnItIsNot() {
        assertRefused(
                new ControlPayload.ShutdownRequest(),
                Status.UNEXPECTED,
                "got=shutdown_request, expected=query_storage_request");
    }

    @Test
    void shouldRefuseMoreCoresThanItHas() {
        ask(new ControlPayload.QueryStorageRequest());

        assertRefused(
                new ControlPayload.InitStorageRequest(4, 3, SOME_BYTES),
                Status.INVALID_VALUE,
                "coreCount=3, expected=at most 2");
    }

    @Test
    void shouldRefuseMoreTransactionsThanItsLimit() {
        ask(new ControlPayload.QueryStorageRequest());

        assertRefused(
                new ControlPayload.InitStorageRequest(Integer.MAX_VALUE, 1, SOME_BYTES),
                Status.INVALID_VALUE,
                "transactionCount=2147483647, expected=1 to 8192");
    }

    @Test
    void shouldRefuseAnExportThatIsNone() {
        ask(new ControlPayload.QueryStorageRequest());

        assertRefused(
                new ControlPayload.InitStorageRequest(4, 1, SOME_BYTES), Status.INVALID_VALUE, "");
    }

    @Test
    void shouldRefuseAContextThatThereIsNot() {
        try (Exported memory = new Exported(folder)) {
            ask(new ControlPayload.QueryStorageRequest());
            assertThat(ask(new ControlPayload.InitStorageRequest(4, 2, memory.blob())))
                    .isEqualTo(new ControlPayload.InitStorageResponse());

            assertRefused(
                    new ControlPayload.CreateRdmaConnectionRequest(
                            2, RdmaConnectionRole.IO_DATA, SOME_BYTES),
                    Status.INVALID_VALUE,
                    "contextIndex=2, expected=0 to 1");
        }
    }

    @Test
    void shouldRefuseConnectionDetailsThatAreNone() {
        try (Exported memory = new Exported(folder)) {
            ask(new ControlPayload.QueryStorageRequest());
            ask(new ControlPayload.InitStorageRequest(4, 2, memory.blob()));

            assertRefused(
                    new ControlPayload.CreateRdmaConnectionRequest(
                            0, RdmaConnectionRole.IO_CONTROL, SOME_BYTES),
                    Status.INVALID_VALUE,
                    "");
        }
    }

    @Test
    void shouldEndWhenTheServiceGoes() {
        ask(new ControlPayload.QueryStorageRequest());

        service.run(ControlChannel::close);

        assertFailed(Status.CONNECTION_RESET, "peer has ended");
    }

    /**
     * As for a target that was frozen while the others ended: all messages are there when it reads
     * the first, so they are sent in one write.
     */
    @Test
    void shouldSayInTheServicesWordsWhyTheMemoryIsNotThereAnyMore() throws IOException {
        Exported memory = new Exported(folder);
        Blob export = memory.blob();
        memory.close();
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        for (ControlMessage message :
                List.of(
                        new ControlMessage(1, 1, new ControlPayload.QueryStorageRequest()),
                        new ControlMessage(
                                2, 1, new ControlPayload.InitStorageRequest(4, 1, export)),
                        new ControlMessage(
                                0,
                                0,
                                ControlPayload.ErrorResponse.of(
                                        Status.TIME_OUT, "initiator is inactive")))) {
            messages.writeBytes(ControlCodec.encode(message));
        }

        try (StorageTarget frozen = openTarget(0)) {
            end = Pipeline.begin(frozen);
            try (Socket socket =
                    new Socket(frozen.address().getAddress(), frozen.address().getPort())) {
                socket.getOutputStream().write(messages.toByteArray());

                assertFailed(Status.TIME_OUT, "initiator is inactive");
            }
        }
    }

    @Test
    void shouldGiveUpAServiceThatFallsSilentInASessionAndTellIt() {
        StorageTarget impatient = openTarget(0, SHORT);
        CompletableFuture<SessionReport> itsEnd = Pipeline.begin(impatient);
        ChannelEnd silent = ChannelEnd.tcpClient("silent", impatient.address());
        silent.run(c -> c.awaitConnected(Patience.LIMIT));
        // Nothing has been asked yet: it may wait for its initiator, for as long as it takes.
        DpuException nothing =
                catchThrowableOfType(
                        DpuException.class,
                        () -> silent.call(c -> c.receive(Duration.ofNanos(4 * SHORT))));
        assertThat(nothing.status()).isEqualTo(Status.TIME_OUT);
        assertThat(itsEnd).isNotDone();

        silent.run(c -> {
            c.send(new ControlMessage(1, 1, new ControlPayload.QueryStorageRequest()));
            c.receive(Patience.LIMIT);
        });
        ControlMessage finalError = silent.call(c -> c.receive(Patience.LIMIT));

        DpuException failure =
                catchThrowableOfType(DpuException.class, () -> Pipeline.await(itsEnd));
        assertThat(failure.status()).isEqualTo(Status.TIME_OUT);
        assertThat(failure)
                .hasMessageContaining("zero-copy service is inactive: peer=tcp://")
                .hasMessageContaining("expected=init_storage_request");
        assertThat(finalError.messageId()).isZero();
        var error = (ControlPayload.ErrorResponse) finalError.payload();
        assertThat(error.status()).isEqualTo(Status.TIME_OUT);
        assertThat(error.message())
                .isEqualTo("target ended the session: reason=" + failure.getMessage());
        silent.close();
        impatient.close();
    }

    @Test
    void shouldGiveUpWaitingForARequestWhenAborted() {
        ask(new ControlPayload.QueryStorageRequest());

        target.abort("User requested abort");

        assertFailed(Status.CONNECTION_ABORTED, "User requested abort");
    }

    @Test
    void shouldGiveUpWaitingForAServiceWhenAborted() {
        StorageTarget lonely = openTarget(0);
        CompletableFuture<SessionReport> itsEnd = Pipeline.begin(lonely);

        lonely.abort("User requested abort");

        DpuException failure =
                catchThrowableOfType(DpuException.class, () -> Pipeline.await(itsEnd));
        assertThat(failure.status()).isEqualTo(Status.CONNECTION_ABORTED);
        assertThat(failure).hasMessageContaining("User requested abort");
    }

    @Test
    void shouldSayThatThePortIsTakenAndGiveTheVolumeAndTheDeviceBack() {
        DpuException failure =
                catchThrowableOfType(DpuException.class, () -> openTarget(target.port()));

        assertThat(failure.status()).isEqualTo(Status.IN_USE);
        assertThat(failure).hasMessageContaining("port is taken: address=127.0.0.1:");
    }

    @Test
    void shouldRefuseToStageAVolumeInLessThanAPiece() {
        TargetOptions options =
                TargetOptions.builder()
                        .device("t0")
                        .cpu(CpuBinding.any())
                        .stagingBytes((1 << 20) - 1)
                        .build();

        DpuException failure =
                catchThrowableOfType(
                        DpuException.class,
                        () ->
                                StorageTarget.open(
                                        machine,
                                        options,
                                        BlockDevice.open("null:64KiB"),
                                        SessionListener.none()));

        assertThat(failure.status()).isEqualTo(Status.NO_MEMORY);
        assertThat(failure).hasMessageContaining("volume=null:65536, expected=--staging-size");
        StorageTarget.open(
                        machine,
                        options,
                        BlockDevice.open("memory:64KiB"), // needs none
                        SessionListener.none())
                .close();
    }

    @Test
    void shouldListTheDevicesWhereOneIsUnknown() {
        BlockDevice volume = BlockDevice.open("memory:4096", 4096);
        TargetOptions options =
                TargetOptions.builder().device("nvme9").cpu(CpuBinding.any()).build();

        DpuException failure =
                catchThrowableOfType(
                        DpuException.class,
                        () -> StorageTarget.open(machine, options, volume, SessionListener.none()));

        assertThat(failure.status()).isEqualTo(Status.NOT_FOUND);
        assertThat(failure).hasMessageContaining("nvme9").hasMessageContaining("t0");
    }

    @Test
    void shouldRunOnceAndBeClosedAtAnyTime() {
        StorageTarget other = openTarget(0);
        other.close();
        other.close();
        DpuException failure = catchThrowableOfType(DpuException.class, other::run);
        assertThat(failure.status()).isEqualTo(Status.BAD_STATE);

        // A run that is under way is aborted and waited for.
        target.close();
        assertFailed(Status.CONNECTION_ABORTED, "Closed while it ran");
    }

    @Test
    void shouldListenWhereItIsTold() {
        TargetOptions options =
                TargetOptions.builder()
                        .device("t0")
                        .cpu(CpuBinding.any())
                        .listenAddress("127.0.0.2")
                        .build();
        try (StorageTarget other =
                StorageTarget.open(
                        machine,
                        options,
                        BlockDevice.open("memory:4096", 4096),
                        SessionListener.none())) {
            assertThat(other.address().getAddress().getHostAddress()).isEqualTo("127.0.0.2");
            assertThat(target.address().getAddress().getHostAddress()).isEqualTo("127.0.0.1");
        }
    }

    @Test
    void shouldNameTheOptionThatIsMissingOrIllegal() {
        assertInvalid(() -> TargetOptions.builder().cpu(CpuBinding.any()).build(), "option=device");
        assertInvalid(() -> TargetOptions.builder().device("t0").build(), "cpuCount=0");
        assertInvalid(
                () ->
                        TargetOptions.builder()
                                .device("t0")
                                .cpu(CpuBinding.any())
                                .listenPort(65536)
                                .build(),
                "listenPort=65536, expected=0 to 65535");
        assertInvalid(
                () ->
                        TargetOptions.builder()
                                .device("t0")
                                .cpu(CpuBinding.any())
                                .controlTimeout(Duration.ZERO)
                                .build(),
                "controlTimeoutNanos");
        assertInvalid(
                () ->
                        TargetOptions.builder()
                                .device("t0")
                                .cpu(CpuBinding.any())
                                .stagingBytes(0)
                                .build(),
                "stagingBytes=0, expected=1 to");
    }

    /** Memory that another process has exported for RDMA. */
    private static final class Exported implements AutoCloseable {
        private final Machine host;
        private final Device device;
        private final SharedMemory memory = SharedMemory.allocate(8192);
        private final Mmap mmap;

        Exported(Path folder) {
            host = Machine.builder(Side.HOST).fabricFolder(folder).open();
            device = host.findDevice("pf0").open();
            mmap =
                    Mmap.create()
                            .setMemory(memory)
                            .setPermissions(
                                    Permissions.of(
                                            AccessFlag.LOCAL_READ_WRITE,
                                            AccessFlag.RDMA_READ,
                                            AccessFlag.RDMA_WRITE))
                            .addDevice(device)
                            .start();
        }

        Blob blob() {
            return Blob.of(mmap.exportRdma(device));
        }

        @Override
        public void close() {
            mmap.close();
            memory.close();
            device.close();
            host.close();
        }
    }

    private StorageTarget openTarget(int port) {
        return openTarget(port, Patience.NANOS);
    }

    private StorageTarget openTarget(int port, long controlTimeoutNanos) {
        TargetOptions options =
                TargetOptions.builder()
                        .device("t0")
                        .cpu(CpuBinding.any())
                        .cpu(CpuBinding.any())
                        .listenPort(port)
                        .controlTimeout(Duration.ofNanos(controlTimeoutNanos))
                        .build();
        return StorageTarget.open(
                machine, options, BlockDevice.open("memory:64KiB", 4096), SessionListener.none());
    }

    private ChannelEnd connect() {
        ChannelEnd connected = ChannelEnd.tcpClient("service", target.address());
        connected.run(c -> c.awaitConnected(Patience.LIMIT));
        return connected;
    }

    private ControlPayload ask(ControlPayload request) {
        int id = ++lastMessageId;
        ControlMessage answer =
                service.call(c -> {
                    c.send(new ControlMessage(id, 9, request));
                    return c.receive(Patience.LIMIT);
                });
        assertThat(answer.messageId()).isEqualTo(id);
        assertThat(answer.correlationId()).isEqualTo(9);
        return answer.payload();
    }

    private void assertRefused(ControlPayload request, Status status, String reason) {
        ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) ask(request);
        assertThat(error.status()).isEqualTo(status);
        assertThat(error.message()).contains(reason);
        assertFailed(status, reason);
    }

    private void assertFailed(Status status, String reason) {
        DpuException failure = catchThrowableOfType(DpuException.class, () -> Pipeline.await(end));
        assertThat(failure.status()).isEqualTo(status);
        assertThat(failure).hasMessageContaining(reason);
    }

    private static void assertInvalid(Runnable action, String reason) {
        DpuException failure = catchThrowableOfType(DpuException.class, action::run);
        assertThat(failure.status()).isEqualTo(Status.INVALID_VALUE);
        assertThat(failure).hasMessageContaining(reason);
    }
}
