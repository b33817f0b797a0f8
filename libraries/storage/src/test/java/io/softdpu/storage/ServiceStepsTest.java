package io.softdpu.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.Status;
import io.softdpu.storage.initiator.ScriptedInitiator;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The steps of a service one by one: nothing before it is asked, and an answer after it. */
class ServiceStepsTest {

    /** For what must not happen: a longer time finds no less, and costs more. */
    private static final long QUIET_NANOS = 200_000_000L;

    @TempDir private Path folder;
    private final CompletableFuture<Void> holding = new CompletableFuture<>();
    private final CountDownLatch released = new CountDownLatch(1);
    private volatile ControlMessageType held;
    private Pipeline pipeline;
    private ControlProxy proxy;
    private ScriptedInitiator initiator;

    @BeforeEach
    void begin() {
        pipeline = new Pipeline(folder);
        int port = pipeline.startTarget(BlockDevice.open("memory:16KiB", 4096)).port();
        proxy = new ControlProxy(port, this::hold);
        pipeline.startService(proxy.port());
        initiator = new ScriptedInitiator(folder, Pipeline.CHANNEL);
    }

    @AfterEach
    void end() {
        released.countDown();
        initiator.close();
        pipeline.endSession();
        proxy.close();
        pipeline.close();
    }

    @Test
    @Clause({"sto-010", "sto-058", "sto-059"})
    @Clause("sto-013")
    void shouldWaitForAQueryAndPassItOnAndAnswerIt() {
        assertStep(
                0,
                ControlMessageType.QUERY_STORAGE_REQUEST,
                ControlMessageType.QUERY_STORAGE_RESPONSE);
    }

    @Test
    @Clause({"sto-011", "sto-013", "sto-070"})
    void shouldWaitForAnInitAndPassItOnAndAnswerIt() {
        assertStep(
                1,
                ControlMessageType.INIT_STORAGE_REQUEST,
                ControlMessageType.INIT_STORAGE_RESPONSE);
    }

    @Test
    @Clause({"sto-012", "sto-078", "sto-079"})
    @Clause("sto-013")
    void shouldWaitForAStartAndPassItOnAndAnswerIt() {
        assertStep(
                2,
                ControlMessageType.START_STORAGE_REQUEST,
                ControlMessageType.START_STORAGE_RESPONSE);
    }

    @Test
    @Clause({"sto-016", "sto-082", "sto-085"})
    @Clause("sto-013")
    void shouldWaitForAStopAndPassItOnAndAnswerIt() {
        assertStep(
                3,
                ControlMessageType.STOP_STORAGE_REQUEST,
                ControlMessageType.STOP_STORAGE_RESPONSE);
    }

    @Test
    @Clause({"sto-013", "sto-017"})
    @Clause({"sto-087", "sto-089"})
    void shouldWaitForAShutdownAndPassItOnAndAnswerIt() {
        assertStep(4, ControlMessageType.SHUTDOWN_REQUEST, ControlMessageType.SHUTDOWN_RESPONSE);
        initiator.close(); // the service waits for that
        pipeline.awaitService();
        pipeline.awaitTarget();
    }

    @ParameterizedTest
    @CsvSource({
        "2, START_STORAGE_REQUEST, STOP_STORAGE_REQUEST",
        "3, STOP_STORAGE_REQUEST, SHUTDOWN_REQUEST",
        "4, SHUTDOWN_REQUEST, STOP_STORAGE_REQUEST"
    })
    @Clause({"sto-012", "sto-016", "sto-017"})
    void shouldTakeNoOtherRequestForTheOneThatItWaitsFor(
            int step, ControlMessageType expected, ControlMessageType other) {
        for (int i = 0; i < step; i++) {
            initiator.proceed(i);
        }
        List<ControlMessageType> before = seen();

        ControlMessage answer = initiator.ask(WrongMessages.payload(other));

        assertThat(answer.payload())
                .isInstanceOfSatisfying(
                        ControlPayload.ErrorResponse.class,
                        error -> {
                            assertThat(error.status()).isEqualTo(Status.UNEXPECTED);
                            assertThat(error.message())
                                    .endsWith(
                                            "got="
                                                    + other.wireName()
                                                    + ", expected="
                                                    + expected.wireName());
                        });
        List<ControlMessageType> after = seen();
        assertThat(after.subList(before.size(), after.size()))
                .as("passed on")
                .doesNotContain(expected, other);
    }

    /** The service waits for the end of the initiator's consumer before it answers. */
    @Test
    @Clause("sto-013")
    void shouldStopItsContextsBetweenTheTargetsAnswerToAShutdownAndItsOwn() {
        for (int i = 0; i < 4; i++) {
            initiator.proceed(i);
        }
        held = ControlMessageType.SHUTDOWN_RESPONSE;
        initiator.say(new ControlPayload.ShutdownRequest());
        Pipeline.await(holding);
        assertThat(initiator.isToldNothingFor(QUIET_NANOS)).isTrue();
        assertThat(initiator.consumersOfTheService()).as("before the target's answer").isOne();
        released.countDown();
        initiator.stopContexts();

        assertThat(initiator.hear().type()).isEqualTo(ControlMessageType.SHUTDOWN_RESPONSE);
        assertThat(initiator.consumersOfTheService()).as("after its own").isZero();
    }

    private void assertStep(int step, ControlMessageType request, ControlMessageType response) {
        for (int i = 0; i < step; i++) {
            initiator.proceed(i);
        }
        List<ControlMessageType> before = seen();
        assertThat(before).as("passed on before it is asked").doesNotContain(request, response);
        assertThat(initiator.isToldNothingFor(QUIET_NANOS)).isTrue();
        assertThat(seen()).as("passed on before it is asked").isEqualTo(before);
        assertThat(pipeline.serviceEnd()).isNotDone();

        held = response;
        CompletableFuture<ControlMessage> answer =
                CompletableFuture.supplyAsync(() -> initiator.proceed(step));
        Pipeline.await(CompletableFuture.anyOf(holding, answer));
        assertThatThrownBy(() -> answer.get(QUIET_NANOS, TimeUnit.NANOSECONDS))
                .as("answered before the target has")
                .isInstanceOf(TimeoutException.class);
        released.countDown();

        ControlMessage answered = Pipeline.await(answer);
        assertThat(answered.type()).isEqualTo(response);
        assertThat(proxy.seen())
                .filteredOn(message -> message.type() == response)
                .extracting(ControlMessage::payload)
                .as("as the target has answered")
                .containsExactly(answered.payload());
        List<ControlMessageType> after = seen();
        assertThat(after.subList(before.size(), after.size()))
                .startsWith(request, response)
                .containsOnlyOnce(request, response);
    }

    /** Holds the answer that a test waits for until it is released. */
    private ControlMessage hold(ControlMessage answer) {
        if (answer.type() == held) {
            holding.complete(null);
            Pipeline.await(released);
        }
        return answer;
    }

    private List<ControlMessageType> seen() {
        return proxy.seen().stream().map(ControlMessage::type).toList();
    }
}
