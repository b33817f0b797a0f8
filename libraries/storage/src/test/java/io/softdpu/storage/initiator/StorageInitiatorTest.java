package io.softdpu.storage.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.linux.MemoryLimits;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.IoMessageView;
import io.softdpu.storage.worker.MessageMemory;
import io.softdpu.storage.workload.Content;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class StorageInitiatorTest {

    /** A timeout that is waited for; within it a session comes to its first phase. */
    private static final long SHORT = 2_000_000_000L;

    private static final Workload READ =
            new Workload(List.of(Phase.read("read").transactions(2).build()));

    /** Answers each request with success. */
    private static final FakeService.Answer FAITHFUL =
            (messages, message) ->
                    result(
                            messages,
                            message,
                            IoMessageView.userData(messages.segment(), messages.at(message)),
                            0);

    @TempDir private Path folder;

    /** Responses without a transaction in flight, and the reasons for rejecting them. */
    enum Illegal implements FakeService.Answer {
        USER_DATA_TOO_LARGE("userData=2") {
            @Override
            public int make(MessageMemory messages, int message) {
                return result(messages, message, 2, 0);
            }
        },
        USER_DATA_NEGATIVE("userData=18446744073709551615") {
            @Override
            public int make(MessageMemory messages, int message) {
                return result(messages, message, -1, 0);
            }
        },
        TYPE_OF_A_REQUEST("type=1") {
            @Override
            public int make(MessageMemory messages, int message) {
                return 64;
            }
        },
        TOO_SHORT("lengthBytes=63") {
            @Override
            public int make(MessageMemory messages, int message) {
                result(messages, message, 0, 0);
                return 63;
            }
        };

        final String reason;

        Illegal(String reason) {
            this.reason = reason;
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseAReplyThatBelongsToNoTransaction(Illegal answer) throws Exception {
        try (FakeService service = new FakeService(folder, answer)) {
            DpuException failure = runAgainst(service, Patience.NANOS);

            assertThat(failure.status()).isEqualTo(Status.UNEXPECTED);
            assertThat(failure)
                    .hasMessageContaining("reply belongs to no transaction")
                    .hasMessageContaining(answer.reason);
        }
    }

    @Test
    void shouldRefuseASecondReplyToOneTransaction() throws Exception {
        // Transaction 0 is answered twice and transaction 1 never, so the session cannot end early.
        FakeService.Answer twice =
                (messages, message) -> {
                    long user = IoMessageView.userData(messages.segment(), messages.at(message));
                    result(messages, message, user, 0);
                    return user == 0 ? -64 : 0;
                };
        Workload two =
                new Workload(List.of(Phase.read("two").transactions(2).operations(2).build()));
        try (FakeService service = new FakeService(folder, twice)) {
            DpuException failure = runAgainst(service, Patience.NANOS, two);

            assertThat(failure.status()).isEqualTo(Status.UNEXPECTED);
            assertThat(failure)
                    .hasMessageContaining("reply belongs to no transaction")
                    .hasMessageContaining("userData=0");
        }
    }

    @Test
    void shouldReportAResultThatNoStatusHas() throws Exception {
        FakeService.Answer odd =
                (messages, message) ->
                        result(
                                messages,
                                message,
                                IoMessageView.userData(messages.segment(), messages.at(message)),
                                0x1234);
        try (FakeService service = new FakeService(folder, odd)) {
            DpuException failure = runAgainst(service, Patience.NANOS);

            assertThat(failure.status()).isEqualTo(Status.UNKNOWN);
            assertThat(failure)
                    .hasMessageContaining("storage rejected an operation")
                    .hasMessageContaining("result=UNKNOWN (4660)");
        }
    }

    @Test
    void shouldGiveUpAServiceThatAnswersNothingAnyMore() throws Exception {
        try (FakeService service = new FakeService(folder, (_, _) -> 0)) {
            DpuException failure = runAgainst(service, SHORT);

            assertThat(failure.status()).isEqualTo(Status.TIME_OUT);
            assertThat(failure)
                    .hasMessageContaining(
                            "zero-copy service does not reply to io_messages: no operation"
                                    + " completed in time: phase=read");
        }
    }

    /** Beside a service of another name. */
    @ParameterizedTest
    @CsvSource({"nobody, nobody", ", doca_storage_comch"})
    @Clause("sto-052")
    void shouldLookForTheNameItIsToldOrTheDefault(@Nullable String told, String name)
            throws Exception {
        InitiatorOptions.Builder options =
                InitiatorOptions.builder()
                        .device("pf0")
                        .cpu(CpuBinding.any())
                        .controlTimeout(Duration.ofNanos(SHORT / 20));
        if (told != null) {
            options.commandChannelName(told);
        }
        try (FakeService _ = new FakeService(folder, FAITHFUL);
                Machine machine = openHost();
                StorageInitiator initiator =
                        StorageInitiator.open(
                                machine, options.build(), READ, InitiatorListener.none())) {
            DpuException failure = catchThrowableOfType(DpuException.class, initiator::run);

            assertThat(failure).isNotNull();
            assertThat(failure.status()).isEqualTo(Status.NOT_FOUND);
            assertThat(failure).hasMessageContaining("server=" + name);
        }
    }

    @Test
    void shouldGiveUpLookingForAServiceWhenAborted() {
        CountDownLatch looking = new CountDownLatch(1);
        try (Machine machine = openHost()) {
            StorageInitiator initiator =
                    StorageInitiator.open(
                            machine,
                            options("nobody", 2 * Patience.NANOS),
                            READ,
                            new InitiatorListener() {
                                @Override
                                public void step(SessionStep step, String detail) {
                                    looking.countDown();
                                }
                            });
            CompletableFuture<SessionReport> end = Pipeline.begin(initiator);
            Pipeline.await(looking);

            initiator.abort("User requested abort");

            DpuException failure =
                    catchThrowableOfType(DpuException.class, () -> Pipeline.await(end));
            assertThat(failure.status()).isEqualTo(Status.CONNECTION_ABORTED);
            assertThat(failure)
                    .hasMessageContaining(
                            "Aborted while connecting to service: reason=User requested abort");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Side.class,
            names = {"DPU", "TARGET"})
    void shouldRunOnTheHostAlone(Side side) {
        try (Machine machine = Machine.builder(side).fabricFolder(folder).open()) {
            DpuException failure =
                    catchThrowableOfType(
                            DpuException.class,
                            () ->
                                    StorageInitiator.open(
                                            machine,
                                            options("nobody", SHORT),
                                            READ,
                                            InitiatorListener.none()));

            assertThat(failure.status()).isEqualTo(Status.NOT_PERMITTED);
            assertThat(failure)
                    .hasMessageContaining("storage initiator runs on the host only: side=" + side);
        }
    }

    @Test
    void shouldListTheDevicesWhereOneIsUnknown() {
        try (Machine machine = openHost()) {
            InitiatorOptions options =
                    InitiatorOptions.builder().device("eth7").cpu(CpuBinding.any()).build();

            DpuException failure =
                    catchThrowableOfType(
                            DpuException.class,
                            () ->
                                    StorageInitiator.open(
                                            machine, options, READ, InitiatorListener.none()));

            assertThat(failure.status()).isEqualTo(Status.NOT_FOUND);
            assertThat(failure).hasMessageContaining("eth7").hasMessageContaining("0b:00.0");
        }
    }

    @Test
    void shouldRefuseMemoryThatCannotMirrorTheStorageBeforeAnythingIsMoved() throws Exception {
        try (FakeService service = new FakeService(folder, (_, _) -> 0);
                Machine machine = openHost()) {
            InitiatorOptions options =
                    InitiatorOptions.builder()
                            .device("pf0")
                            .cpu(CpuBinding.any())
                            .commandChannelName(FakeService.NAME)
                            .localIoRegionSizeBytes(32 << 10)
                            .build();
            Workload validity =
                    new Workload(List.of(Phase.read("all").expect(Content.zeros()).build()));
            StorageInitiator initiator =
                    StorageInitiator.open(machine, options, validity, InitiatorListener.none());

            DpuException failure = catchThrowableOfType(DpuException.class, initiator::run);

            assertThat(failure.status()).isEqualTo(Status.BAD_CONFIG);
            assertThat(failure)
                    .hasMessageContaining("localIoRegionSizeBytes=32768, expected=at least 65536");
        }
    }

    @Test
    void shouldRefuseAStorageAboveItsLimitOfMemoryBeforeItAllocates() throws Exception {
        FakeService service = new FakeService(folder, FAITHFUL);
        try (service) {
            DpuException failure = runWithin((64 << 10) - 1, service);

            assertThat(failure).as("one byte too many").isNotNull();
            assertThat(failure.status()).isEqualTo(Status.NO_MEMORY);
            assertThat(failure)
                    .hasMessage(
                            "memory for the data is above the limit: sizeBytes=65536,"
                                    + " maxMemoryBytes=65535, limitedBy=option --max-memory,"
                                    + " expected=a storage that fits, or --max-memory=65536 or"
                                    + " more");
        }
        // Nothing was exported to the service, and it is told why.
        assertThat(service.received())
                .extracting(ControlMessage::type)
                .containsExactly(
                        ControlMessageType.QUERY_STORAGE_REQUEST,
                        ControlMessageType.ERROR_RESPONSE);
        var finalError = (ControlPayload.ErrorResponse) service.received().getLast().payload();
        assertThat(finalError.status()).isEqualTo(Status.NO_MEMORY);
        assertThat(finalError.message()).contains("sizeBytes=65536, maxMemoryBytes=65535");
    }

    @Test
    void shouldTakeAStorageAsLargeAsItsLimitOfMemory() throws Exception {
        try (FakeService service = new FakeService(folder, FAITHFUL)) {
            assertThat(runWithin(64 << 10, service)).isNull();
        }
    }

    @Test
    void shouldAllocateNoMoreThanHalfOfTheFreeMemoryUnlessTold() throws Exception {
        long claimed = 1L << 52;
        FakeService service =
                new FakeService(
                        folder,
                        FAITHFUL,
                        message ->
                                message.type() == ControlMessageType.QUERY_STORAGE_RESPONSE
                                        ? new ControlMessage(
                                                message.messageId(),
                                                message.correlationId(),
                                                new ControlPayload.QueryStorageResponse(
                                                        claimed, 4096))
                                        : message);
        try (service) {
            DpuException failure = runAgainst(service, Patience.NANOS);

            assertThat(failure.status()).isEqualTo(Status.NO_MEMORY);
            assertThat(failure)
                    .hasMessageMatching(
                            "memory for the data is above the limit: sizeBytes="
                                    + claimed
                                    + ", maxMemoryBytes=\\d+, limitedBy=half of the free memory of"
                                    + " (machine|cgroup, folder=.*, limitBytes=\\d+),"
                                    + " expected=a storage that fits, or --max-memory="
                                    + claimed
                                    + " or more");
            Matcher limit = Pattern.compile("maxMemoryBytes=(\\d+)").matcher(failure.getMessage());
            assertThat(limit.find()).isTrue();
            assertThat(Long.parseLong(limit.group(1)))
                    .isLessThanOrEqualTo(MemoryLimits.totalBytes() / 2);
        }
    }

    private DpuException runWithin(long maxMemoryBytes, FakeService service) {
        InitiatorOptions options =
                InitiatorOptions.builder()
                        .device("pf0")
                        .cpu(CpuBinding.any())
                        .commandChannelName(FakeService.NAME)
                        .transactionCount(2)
                        .controlTimeout(Patience.LIMIT)
                        .maxMemoryBytes(maxMemoryBytes)
                        .build();
        Workload two =
                new Workload(List.of(Phase.read("two").transactions(2).operations(2).build()));
        try (Machine machine = openHost();
                StorageInitiator initiator =
                        StorageInitiator.open(machine, options, two, InitiatorListener.none())) {
            return catchThrowableOfType(DpuException.class, initiator::run);
        }
    }

    private DpuException runAgainst(FakeService service, long timeoutNanos) {
        return runAgainst(service, timeoutNanos, READ);
    }

    private DpuException runAgainst(FakeService service, long timeoutNanos, Workload workload) {
        try (Machine machine = openHost();
                StorageInitiator initiator =
                        StorageInitiator.open(
                                machine,
                                options(FakeService.NAME, timeoutNanos),
                                workload,
                                InitiatorListener.none())) {
            return catchThrowableOfType(DpuException.class, initiator::run);
        }
    }

    private Machine openHost() {
        return Machine.builder(Side.HOST).fabricFolder(folder).open();
    }

    private static InitiatorOptions options(String channel, long timeoutNanos) {
        return InitiatorOptions.builder()
                .device("pf0")
                .cpu(CpuBinding.any())
                .commandChannelName(channel)
                .transactionCount(2)
                .controlTimeout(Duration.ofNanos(timeoutNanos))
                .build();
    }

    private static int result(MessageMemory messages, int message, long userData, int code) {
        IoMessageView.write(
                messages.segment(), messages.at(message), 0, userData, code, 4096, 0, 0);
        return 64;
    }
}
