package io.softdpu.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.control.RemoteErrorException;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.workload.Content;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Order of a session's control messages, and the effect of an error in each of them. */
class ControlFlowTest {
    private static final Workload READ =
            new Workload(List.of(Phase.read("read").transactions(4).build()));

    @TempDir private Path folder;

    @Test
    @Clause({"sto-009", "sto-125"})
    void shouldGoThroughTheStepsInTheOrderOfTheGuide() throws Exception {
        List<SessionStep> steps = Collections.synchronizedList(new ArrayList<>());
        try (Pipeline pipeline = new Pipeline(folder).cores(2, 2)) {
            int port = pipeline.startTarget(BlockDevice.open("memory:64KiB", 4096)).port();
            pipeline.serviceListener(
                    new SessionListener() {
                        @Override
                        public void step(SessionStep step, String detail) {
                            steps.add(step);
                        }
                    });
            try (ControlProxy proxy = new ControlProxy(port, message -> message)) {
                pipeline.startService(proxy.port());
                pipeline.openInitiator(READ).run();
                pipeline.awaitService();
                pipeline.awaitTarget();

                assertThat(proxy.seen())
                        .extracting(ControlMessage::type)
                        .containsExactly(
                                ControlMessageType.QUERY_STORAGE_REQUEST,
                                ControlMessageType.QUERY_STORAGE_RESPONSE,
                                ControlMessageType.INIT_STORAGE_REQUEST,
                                ControlMessageType.INIT_STORAGE_RESPONSE,
                                ControlMessageType.CREATE_RDMA_CONNECTION_REQUEST,
                                ControlMessageType.CREATE_RDMA_CONNECTION_RESPONSE,
                                ControlMessageType.CREATE_RDMA_CONNECTION_REQUEST,
                                ControlMessageType.CREATE_RDMA_CONNECTION_RESPONSE,
                                ControlMessageType.CREATE_RDMA_CONNECTION_REQUEST,
                                ControlMessageType.CREATE_RDMA_CONNECTION_RESPONSE,
                                ControlMessageType.CREATE_RDMA_CONNECTION_REQUEST,
                                ControlMessageType.CREATE_RDMA_CONNECTION_RESPONSE,
                                ControlMessageType.START_STORAGE_REQUEST,
                                ControlMessageType.START_STORAGE_RESPONSE,
                                ControlMessageType.STOP_STORAGE_REQUEST,
                                ControlMessageType.STOP_STORAGE_RESPONSE,
                                ControlMessageType.SHUTDOWN_REQUEST,
                                ControlMessageType.SHUTDOWN_RESPONSE);
                assertThatIdsMatch(proxy.seen());
            }
        }
        assertThat(steps)
                .containsExactly(
                        SessionStep.CONNECTING_TO_STORAGE,
                        SessionStep.WAITING_FOR_CLIENT,
                        SessionStep.CONNECTED,
                        SessionStep.QUERY,
                        SessionStep.INIT,
                        SessionStep.START,
                        SessionStep.DATA_PATH,
                        SessionStep.STOP,
                        SessionStep.SHUTDOWN);
    }

    /** One message_id per pair, none twice; one correlation_id per operation. */
    private static void assertThatIdsMatch(List<ControlMessage> seen) {
        for (int i = 0; i < seen.size(); i += 2) {
            assertThat(seen.get(i + 1).messageId()).isEqualTo(seen.get(i).messageId());
            assertThat(seen.get(i + 1).correlationId()).isEqualTo(seen.get(i).correlationId());
        }
        assertThat(seen.stream().map(ControlMessage::messageId).distinct()).hasSize(9);
        int init = seen.get(2).correlationId();
        assertThat(seen.subList(2, 12)).allMatch(message -> message.correlationId() == init);
        assertThat(seen.stream().map(ControlMessage::correlationId).distinct()).hasSize(5);
    }

    @ParameterizedTest
    @EnumSource(
            value = ControlMessageType.class,
            names = {
                "QUERY_STORAGE_RESPONSE",
                "INIT_STORAGE_RESPONSE",
                "CREATE_RDMA_CONNECTION_RESPONSE",
                "START_STORAGE_RESPONSE"
            })
    @Clause({"sto-060", "sto-071", "sto-080"})
    void shouldRelayAnErrorOfTheTargetVerbatimUpToTheDataPath(ControlMessageType type)
            throws Exception {
        assertErrorIsRelayed(type);
    }

    @ParameterizedTest
    @EnumSource(
            value = ControlMessageType.class,
            names = {"STOP_STORAGE_RESPONSE", "SHUTDOWN_RESPONSE"})
    @Clause({"sto-086", "sto-090"})
    void shouldRelayAnErrorOfTheTargetVerbatimAfterTheDataPath(ControlMessageType type)
            throws Exception {
        assertErrorIsRelayed(type);
    }

    @ParameterizedTest
    @EnumSource(
            value = ControlMessageType.class,
            names = {"QUERY_STORAGE_RESPONSE", "INIT_STORAGE_RESPONSE", "START_STORAGE_RESPONSE"})
    @Clause({"sto-060", "sto-071", "sto-080"})
    void shouldAnswerWithAnErrorOfItsOwnUpToTheDataPath(ControlMessageType type) throws Exception {
        assertOwnError(type);
    }

    @ParameterizedTest
    @EnumSource(
            value = ControlMessageType.class,
            names = {"STOP_STORAGE_RESPONSE", "SHUTDOWN_RESPONSE"})
    @Clause({"sto-086", "sto-090"})
    void shouldAnswerWithAnErrorOfItsOwnAfterTheDataPath(ControlMessageType type) throws Exception {
        assertOwnError(type);
    }

    /** The target's response is replaced by one of a type that no request has. */
    private void assertOwnError(ControlMessageType type) throws Exception {
        String reason =
                "control message is not the expected one: field=type, got=hello, expected="
                        + type.wireName();

        DpuException failure = failureWhereAResponseIs(type, new ControlPayload.Hello());

        assertThat(failure)
                .isInstanceOfSatisfying(
                        RemoteErrorException.class,
                        e ->
                                assertThat(e.response())
                                        .isEqualTo(
                                                ControlPayload.ErrorResponse.of(
                                                        Status.UNEXPECTED, reason)));
    }

    private void assertErrorIsRelayed(ControlMessageType type) throws Exception {
        DpuException failure =
                failureWhereAResponseIs(
                        type, ControlPayload.ErrorResponse.of(Status.DRIVER, "firmware: code=7"));

        assertThat(failure.status()).isEqualTo(Status.DRIVER);
        assertThat(failure).hasMessage("firmware: code=7");
    }

    /** The failure of the initiator, which has the status of the service's. */
    private DpuException failureWhereAResponseIs(ControlMessageType type, ControlPayload other)
            throws Exception {
        try (Pipeline pipeline = new Pipeline(folder)) {
            int port = pipeline.startTarget(BlockDevice.open("memory:64KiB", 4096)).port();
            try (ControlProxy proxy =
                    new ControlProxy(
                            port,
                            message -> message.type() == type ? message.reply(other) : message)) {
                pipeline.startService(proxy.port());
                StorageInitiator initiator = pipeline.openInitiator(READ);

                DpuException failure = catchThrowableOfType(DpuException.class, initiator::run);

                DpuException atService =
                        catchThrowableOfType(DpuException.class, pipeline::awaitService);
                assertThat(atService.status()).isEqualTo(failure.status());
                return failure;
            }
        }
    }

    @Test
    @Clause("sto-043")
    void shouldServeTwoSessionsAtOnceUnderDifferentNames() {
        Workload load =
                new Workload(
                        List.of(
                                Phase.read("read")
                                        .transactions(8)
                                        .random(1)
                                        .operations(2000)
                                        .build(),
                                Phase.read("all")
                                        .transactions(8)
                                        .fill(Content.zeros())
                                        .expect(Content.pattern(Content.VOLUME_PATTERN_SEED))
                                        .build()));
        try (Pipeline one = new Pipeline(folder).channel("one");
                Pipeline two = new Pipeline(folder).channel("two")) {
            StorageInitiator first = one.start(1 << 20, load);
            StorageInitiator second = two.start(2 << 20, load);

            var firstEnd = Pipeline.begin(first);
            var secondEnd = Pipeline.begin(second);

            assertThat(Pipeline.await(firstEnd).operations()).isEqualTo(2000 + 256);
            assertThat(Pipeline.await(secondEnd).operations()).isEqualTo(2000 + 512);
            assertThat(one.awaitService().operations()).isEqualTo(2000 + 256);
            assertThat(two.awaitService().operations()).isEqualTo(2000 + 512);
            one.awaitTarget();
            two.awaitTarget();
        }
    }
}
