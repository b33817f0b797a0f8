package io.softdpu.storage.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.linux.text.Text;
import io.softdpu.storage.WrongMessages;
import io.softdpu.storage.WrongMessages.Case;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.IoMessageView;
import io.softdpu.storage.worker.MessageMemory;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Wrong control messages of a service to its initiator, in each of the initiator's states. */
@Tag(Soak.TAG)
class WrongAnswerTest {
    private static final Workload READ =
            new Workload(List.of(Phase.read("read").transactions(2).operations(2).build()));

    @TempDir private Path folder;
    private int sessions;

    /** Result of an initiator, and its messages to the service. */
    private record Outcome(DpuException failure, List<ControlMessage> said) {}

    @Test
    void shouldRefuseEachWrongAnswerInEachStateOfTheInitiator(SeededRandom random)
            throws Exception {
        long start = System.nanoTime();
        List<ControlMessageType> states = new ArrayList<>();
        Outcome good =
                run(answer -> {
                    states.add(answer.type());
                    return answer;
                });
        assertThat(good.failure()).isNull();
        List<Case> cases = WrongMessages.cases(states, random);
        for (Case wrong : cases) {
            Outcome end = run(replacing(wrong));

            assertThat(end.failure()).as("%s", wrong).isNotNull();
            assertThat(end.failure().status()).as("%s", wrong).isEqualTo(wrong.status());
            ControlMessage last = end.said().getLast();
            if (wrong.isError()) {
                assertThat(end.failure()).hasMessage(WrongMessages.ERROR.message());
                assertThat(last.type()).as("no answer to an error").isNotEqualTo(wrong.wrong());
            } else {
                assertThat(end.failure()).as("%s", wrong).hasMessageContaining(wrong.reason());
                // On the wire as well: the service hears why.
                var finalError = (ControlPayload.ErrorResponse) last.payload();
                assertThat(finalError.status()).isEqualTo(Status.UNEXPECTED);
                assertThat(finalError.message())
                        .startsWith("initiator ended the session: reason=")
                        .contains(wrong.reason());
            }
        }
        Soak.report(
                "wrong-answers-to-initiator",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - start),
                Text.format(
                        "states=%d, types=%d, cases=%d",
                        states.size(), ControlMessageType.values().length, cases.size()));
    }

    private static UnaryOperator<ControlMessage> replacing(Case wrong) {
        int[] answers = new int[1];
        return answer ->
                answers[0]++ == wrong.state()
                        ? answer.reply(WrongMessages.payload(wrong.wrong()))
                        : answer;
    }

    private Outcome run(UnaryOperator<ControlMessage> change) throws Exception {
        Path own = folder.resolve("session-" + sessions++);
        FakeService service = new FakeService(own, WrongAnswerTest::done, change);
        DpuException failure;
        try (service;
                Machine machine = Machine.builder(Side.HOST).fabricFolder(own).open()) {
            InitiatorOptions options =
                    InitiatorOptions.builder()
                            .device("pf0")
                            .cpu(CpuBinding.any())
                            .commandChannelName(FakeService.NAME)
                            .controlTimeout(Patience.LIMIT)
                            .transactionCount(2)
                            .build();
            StorageInitiator initiator =
                    StorageInitiator.open(machine, options, READ, InitiatorListener.none());
            failure = catchThrowableOfType(DpuException.class, initiator::run);
        }
        return new Outcome(failure, service.received());
    }

    private static int done(MessageMemory messages, int message) {
        IoMessageView.writeResult(messages.segment(), messages.at(message), 0);
        return IoMessageView.WIRE_BYTES;
    }
}
