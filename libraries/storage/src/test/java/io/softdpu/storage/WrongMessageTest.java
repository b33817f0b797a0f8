package io.softdpu.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import io.softdpu.storage.WrongMessages.Case;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Wrong control messages between a service and its target, in each state of both. */
@Tag(Soak.TAG)
class WrongMessageTest {
    private static final Workload READ =
            new Workload(List.of(Phase.read("read").transactions(2).build()));

    @TempDir private Path folder;
    private int sessions;

    /**
     * Results of a session for each of the three roles, and the messages between service and
     * target.
     */
    private record Outcome(
            DpuException initiator,
            DpuException service,
            DpuException target,
            List<ControlMessage> seen) {}

    @Test
    void shouldRefuseEachWrongRequestInEachStateOfTheTarget(SeededRandom random) throws Exception {
        long start = System.nanoTime();
        List<ControlMessageType> states = types(watchedSession(), 0);
        assertThat(states).as("a request that no session makes").containsAll(requests());
        List<Case> cases = WrongMessages.cases(states, random);
        for (Case wrong : cases) {
            Outcome end =
                    run(
                            (exchange, request) ->
                                    List.of(
                                            exchange == wrong.state()
                                                    ? request.reply(payload(wrong))
                                                    : request),
                            (_, answer) -> List.of(answer));

            assertEnded(end.target(), wrong);
            if (!wrong.isError()) {
                ControlMessage answer = end.seen().get(2 * wrong.state() + 1);
                ControlMessage request = end.seen().get(2 * wrong.state());
                assertThat(answer.messageId()).isEqualTo(request.messageId());
                assertThat(answer.correlationId()).isEqualTo(request.correlationId());
                var error = (ControlPayload.ErrorResponse) answer.payload();
                assertThat(error.status()).isEqualTo(Status.UNEXPECTED);
                // Verbatim through the service to the initiator: number and text.
                assertThat(end.service()).hasMessage(error.message());
                assertThat(end.initiator()).hasMessage(error.message());
                assertThat(end.initiator().status()).isEqualTo(Status.UNEXPECTED);
            }
        }
        report("wrong-requests-to-target", random, start, states, cases.size());
    }

    @Test
    void shouldRefuseEachWrongAnswerInEachStateOfTheService(SeededRandom random) throws Exception {
        long start = System.nanoTime();
        List<ControlMessageType> states = types(watchedSession(), 1);
        List<Case> cases = WrongMessages.cases(states, random);
        for (Case wrong : cases) {
            Outcome end =
                    run(
                            (_, request) -> List.of(request),
                            (exchange, answer) ->
                                    List.of(
                                            exchange == wrong.state()
                                                    ? answer.reply(payload(wrong))
                                                    : answer));

            assertEnded(end.service(), wrong);
            assertEnded(end.initiator(), wrong);
            if (wrong.state() < states.size() - 1) { // behind its last answer it hears nothing more
                assertThat(end.target()).as("%s", wrong).isNotNull();
                // The sender of an error is not notified of it.
                assertThat(end.target().status())
                        .isEqualTo(wrong.isError() ? Status.CONNECTION_RESET : Status.UNEXPECTED);
            }
        }
        report("wrong-answers-to-service", random, start, states, cases.size());
    }

    @Test
    void shouldRefuseAnAnswerWithAnotherNumberInEachStateOfTheService(SeededRandom random)
            throws Exception {
        long start = System.nanoTime();
        List<ControlMessageType> states = types(watchedSession(), 1);
        int cases = 0;
        for (int state = 0; state < states.size(); state++) {
            boolean id = (state & 1) == 0;
            int wrongState = state;
            Outcome end =
                    run(
                            (_, request) -> List.of(request),
                            (exchange, answer) ->
                                    List.of(
                                            exchange == wrongState
                                                    ? new ControlMessage(
                                                            answer.messageId() + (id ? 9 : 0),
                                                            answer.correlationId() + (id ? 0 : 9),
                                                            answer.payload())
                                                    : answer));
            cases++;

            for (DpuException failure : List.of(end.service(), end.initiator())) {
                assertThat(failure.status()).isEqualTo(Status.UNEXPECTED);
                assertThat(failure)
                        .hasMessageContaining(
                                "field=" + (id ? "messageId" : "correlationId") + ", got=");
            }
        }
        report("wrong-numbers-to-service", random, start, states, cases);
    }

    @Test
    void shouldRefuseWhatATargetSaysUnaskedInEachState(SeededRandom random) throws Exception {
        long start = System.nanoTime();
        List<ControlMessageType> states = types(watchedSession(), 1);
        // After the last reply no role receives messages.
        List<Case> cases = WrongMessages.cases(states.subList(0, states.size() - 1), random);
        for (Case wrong : cases) {
            Outcome end =
                    run(
                            (_, request) -> List.of(request),
                            (exchange, answer) ->
                                    exchange == wrong.state()
                                            ? List.of(
                                                    answer,
                                                    new ControlMessage(0, 0, payload(wrong)))
                                            : List.of(answer));

            // It comes where nothing is expected, or in the place of the next answer.
            for (DpuException failure : List.of(end.service(), end.initiator())) {
                assertThat(failure.status()).as("%s", wrong).isEqualTo(wrong.status());
            }
            assertThat(end.service().getMessage())
                    .as("%s", wrong)
                    .containsAnyOf(
                            "without a request: got="
                                    + wrong.wrong().wireName()
                                    + ", expected=none",
                            "field=type, got=" + wrong.wrong().wireName() + ", expected=",
                            "field=messageId, got=0, expected=",
                            WrongMessages.ERROR.message());
        }
        report("unasked-by-target", random, start, states, cases.size());
    }

    // ---- sessions

    /** Records the states of a session without a fault. */
    private List<ControlMessage> watchedSession() throws Exception {
        Outcome end = run((_, request) -> List.of(request), (_, answer) -> List.of(answer));
        assertThat(end.initiator()).isNull();
        assertThat(end.service()).isNull();
        assertThat(end.target()).isNull();
        return end.seen();
    }

    private Outcome run(ControlProxy.Change requests, ControlProxy.Change answers)
            throws Exception {
        Path own = folder.resolve("session-" + sessions++);
        try (Pipeline pipeline = new Pipeline(own)) {
            int port = pipeline.startTarget(BlockDevice.open("memory:16KiB", 4096)).port();
            ControlProxy proxy = new ControlProxy(port, requests, answers);
            DpuException initiator;
            DpuException service;
            DpuException target;
            try (proxy) {
                pipeline.startService(proxy.port());
                StorageInitiator role = pipeline.openInitiator(READ);
                initiator = failure(role::run);
                service = failure(pipeline::awaitService);
                target = failure(pipeline::awaitTarget);
            }
            return new Outcome(initiator, service, target, proxy.seen());
        }
    }

    private static DpuException failure(org.assertj.core.api.ThrowableAssert.ThrowingCallable end) {
        return catchThrowableOfType(DpuException.class, end);
    }

    private static void assertEnded(DpuException failure, Case wrong) {
        assertThat(failure).as("%s", wrong).isNotNull();
        assertThat(failure.status()).as("%s", wrong).isEqualTo(wrong.status());
        assertThat(failure)
                .as("%s", wrong)
                .hasMessageContaining(
                        wrong.isError() ? WrongMessages.ERROR.message() : wrong.reason());
    }

    private static ControlPayload payload(Case wrong) {
        return WrongMessages.payload(wrong.wrong());
    }

    private static List<ControlMessageType> requests() {
        return WrongMessages.requests();
    }

    /** The types of each second message: from 0 the requests, from 1 the answers. */
    private static List<ControlMessageType> types(List<ControlMessage> seen, int from) {
        List<ControlMessageType> types = new ArrayList<>();
        for (int i = from; i < seen.size(); i += 2) {
            types.add(seen.get(i).type());
        }
        return types;
    }

    private static void report(
            String name, SeededRandom random, long start, List<ControlMessageType> states, int n) {
        Soak.report(
                name,
                random.seed(),
                Duration.ofNanos(System.nanoTime() - start),
                Text.format(
                        "states=%d, types=%d, cases=%d",
                        states.size(), ControlMessageType.values().length, n));
    }
}
