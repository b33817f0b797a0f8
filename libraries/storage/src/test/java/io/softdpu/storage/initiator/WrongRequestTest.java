package io.softdpu.storage.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.WrongMessages;
import io.softdpu.storage.WrongMessages.Case;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Wrong control messages of an initiator to its service, in each state of the service. */
@Tag(Soak.TAG)
class WrongRequestTest {

    @TempDir private Path folder;
    private int sessions;

    @Test
    void shouldRefuseEachWrongRequestInEachStateOfTheService(SeededRandom random) {
        long start = System.nanoTime();
        List<ControlMessageType> states = watchedSession();
        List<ControlMessageType> all = new ArrayList<>(states);
        all.add(ControlMessageType.CREATE_RDMA_CONNECTION_REQUEST); // between service and target
        assertThat(all).as("a request that no session makes").containsAll(WrongMessages.requests());
        List<Case> cases = WrongMessages.cases(states, random);
        for (Case wrong : cases) {
            check(wrong);
        }
        Soak.report(
                "wrong-requests-to-service",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - start),
                Text.format(
                        "states=%d, types=%d, cases=%d",
                        states.size(), ControlMessageType.values().length, cases.size()));
    }

    private void check(Case wrong) {
        try (Pipeline pipeline = start()) {
            try (ScriptedInitiator initiator =
                    new ScriptedInitiator(
                            folder.resolve("session-" + sessions), Pipeline.CHANNEL)) {
                for (int step = 0; step < wrong.state(); step++) {
                    initiator.proceed(step);
                }
                ControlPayload payload = WrongMessages.payload(wrong.wrong());
                if (wrong.isError()) {
                    initiator.say(payload);
                } else {
                    ControlMessage answer = initiator.ask(payload);
                    assertThat(answer.messageId()).as("%s", wrong).isNotZero();
                    var error = (ControlPayload.ErrorResponse) answer.payload();
                    assertThat(error.status()).as("%s", wrong).isEqualTo(Status.UNEXPECTED);
                    assertThat(error.message()).as("%s", wrong).contains(wrong.reason());
                }
            }
            String reason = wrong.isError() ? WrongMessages.ERROR.message() : wrong.reason();
            for (var end : List.of(pipeline.serviceEnd(), pipeline.targetEnd())) {
                DpuException failure =
                        catchThrowableOfType(DpuException.class, () -> Pipeline.await(end));
                assertThat(failure).as("%s", wrong).isNotNull();
                assertThat(failure.status()).as("%s", wrong).isEqualTo(wrong.status());
                assertThat(failure).as("%s", wrong).hasMessageContaining(reason);
            }
        }
    }

    /** Records the messages that the service waits for in a session without a fault. */
    private List<ControlMessageType> watchedSession() {
        List<ControlMessageType> states = new ArrayList<>();
        try (Pipeline pipeline = start()) {
            try (ScriptedInitiator initiator =
                    new ScriptedInitiator(
                            folder.resolve("session-" + sessions), Pipeline.CHANNEL)) {
                for (int step = 0; step < ScriptedInitiator.steps(); step++) {
                    ControlMessageType answer = initiator.proceed(step).type();
                    states.add(
                            ControlMessageType.valueOf(
                                    answer.name().replace("_RESPONSE", "_REQUEST")));
                }
            }
            assertThat(pipeline.awaitService().status()).isEqualTo(Status.SUCCESS);
            assertThat(pipeline.awaitTarget().status()).isEqualTo(Status.SUCCESS);
        }
        return states;
    }

    private Pipeline start() {
        Pipeline pipeline = new Pipeline(folder.resolve("session-" + ++sessions));
        pipeline.startService(pipeline.startTarget(BlockDevice.open("memory:16KiB", 4096)).port());
        return pipeline;
    }
}
