package io.softdpu.storage.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.storage.control.ChannelEnd;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Requests and errors that a service passes on between a scripted target and a scripted initiator.
 */
class ServiceControlTest extends ServiceFixture {
    @Test
    @Clause({"sto-013", "sto-125"})
    void shouldRelayAQueryWithAnIdOfItsOwnAndTheInitiatorsCorrelation() {
        connectAll(Patience.NANOS);
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(Patience.LIMIT));
        CompletableFuture<ControlMessage> answer = ask(QUERY, 4711);

        ControlMessage relayed = ChannelEnd.await(asked);
        assertThat(relayed.payload()).isEqualTo(QUERY);
        assertThat(relayed.correlationId()).isEqualTo(4711);
        assertThat(relayed.messageId()).isNotEqualTo(lastMessageId);
        ControlPayload size = new ControlPayload.QueryStorageResponse(1 << 20, 512);
        target.run(c -> c.send(relayed.reply(size)));

        assertThat(ChannelEnd.await(answer))
                .isEqualTo(new ControlMessage(lastMessageId, 4711, size));
    }

    @Test
    @Clause("sto-060")
    void shouldPassAnErrorOfTheTargetOnVerbatim() {
        connectAll(Patience.NANOS);
        ControlPayload.ErrorResponse error =
                new ControlPayload.ErrorResponse(0x7777, "the disk is on fire");

        assertAnswer(QUERY, request -> request.reply(error), error);
        assertFailed(Status.UNKNOWN, "the disk is on fire");
    }

    @Test
    @Clause({"sto-014", "sto-060"})
    void shouldTellBothThatTheTargetAnsweredWithAnotherType() {
        connectAll(Patience.NANOS);
        String reason = "got=stop_storage_response, expected=query_storage_response";

        ControlPayload.ErrorResponse error =
                answerError(request -> request.reply(new ControlPayload.StopStorageResponse()));

        assertThat(error.status()).isEqualTo(Status.UNEXPECTED);
        assertThat(error.message()).contains(reason);
        assertFailed(Status.UNEXPECTED, reason);
    }

    @Test
    @Clause("sto-044")
    void shouldTellBothThatTheTargetDidNotAnswerInTime() {
        connectAll(SHORT);

        ControlMessage answer = ChannelEnd.await(ask(QUERY, 1));

        ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) answer.payload();
        assertThat(error.status()).isEqualTo(Status.TIME_OUT);
        assertThat(error.message())
                .contains("from=tcp://", "request=query_storage_request", "waitedMillis=");
        assertFailed(Status.TIME_OUT, "query_storage_request");
    }

    @Test
    void shouldTellTheInitiatorThatTheTargetWentWhileItWasAsked() {
        connectAll(Patience.NANOS);
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(Patience.LIMIT));
        CompletableFuture<ControlMessage> answer = ask(QUERY, 1);
        ChannelEnd.await(asked);
        target.run(ControlChannel::close);

        ControlPayload.ErrorResponse error =
                (ControlPayload.ErrorResponse) ChannelEnd.await(answer).payload();
        assertThat(error.status()).isEqualTo(Status.CONNECTION_RESET);
        assertFailed(Status.CONNECTION_RESET, "peer has ended");
    }

    @Test
    void shouldNotTakeWhatTheInitiatorSaysForTheReasonWhyTheTargetWent() {
        connectAll(Patience.NANOS);
        ControlPayload.ErrorResponse word =
                ControlPayload.ErrorResponse.of(Status.INVALID_VALUE, "initiator's own reason");
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(Patience.LIMIT));
        initiator.run(c -> {
            c.send(new ControlMessage(1, 1, QUERY));
            c.send(new ControlMessage(0, 0, word));
            c.progress();
        });
        ChannelEnd.await(asked);
        target.run(ControlChannel::close);

        assertFailed(Status.CONNECTION_RESET, "peer has ended: peer=tcp://");
    }

    @Test
    void shouldEndWhenTheInitiatorGoesWhileTheTargetIsAsked() {
        connectAll(Patience.NANOS);
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(Patience.LIMIT));
        initiator.send(new ControlMessage(1, 1, QUERY));
        ChannelEnd.await(asked);
        initiator.run(ControlChannel::close);

        assertFailed(Status.CONNECTION_RESET, "peer has ended: peer=client of comch://" + NAME);
    }

    @Test
    void shouldGiveUpAnInitiatorThatFallsSilentAndTellBoth() {
        connectAll(SHORT);
        String reason =
                "initiator is inactive: peer=client of comch://"
                        + NAME
                        + ", expected=query_storage_request";

        CompletableFuture<ControlMessage> atTarget = target.begin(c -> c.receive(Patience.LIMIT));
        ControlMessage atInitiator = initiator.call(c -> c.receive(Patience.LIMIT));

        for (ControlMessage finalError : List.of(atInitiator, ChannelEnd.await(atTarget))) {
            assertThat(finalError.messageId()).isZero();
            var error = (ControlPayload.ErrorResponse) finalError.payload();
            assertThat(error.status()).isEqualTo(Status.TIME_OUT);
            assertThat(error.message()).contains("zero-copy ended the session: reason=" + reason);
        }
        assertFailed(Status.TIME_OUT, reason);
    }

    @Test
    void shouldEndWhenTheTargetSpeaksUnasked() {
        connectAll(Patience.NANOS);
        target.run(c -> c.send(new ControlMessage(9, 9, new ControlPayload.ShutdownRequest())));

        assertFailed(Status.UNEXPECTED, "got=shutdown_request, expected=none");
    }

    @Test
    @Clause("sto-009")
    void shouldRefuseARequestWhoseTurnItIsNot() {
        connectAll(Patience.NANOS);

        ControlMessage answer = ChannelEnd.await(ask(new ControlPayload.StartStorageRequest(), 3));

        ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) answer.payload();
        assertThat(error.status()).isEqualTo(Status.UNEXPECTED);
        assertThat(error.message())
                .contains("got=start_storage_request, expected=query_storage_request");
        assertFailed(Status.UNEXPECTED, "got=start_storage_request");
    }

    @Test
    @Clause("sto-046")
    void shouldGiveUpWaitingForARequestWhenAborted() {
        connectAll(Patience.NANOS);

        service.abort("User requested abort");
        service.abort("too late to count");

        assertFailed(Status.CONNECTION_ABORTED, "User requested abort");
    }

    @Test
    void shouldGiveUpWaitingForTheTargetsAnswerWhenAborted() {
        connectAll(Patience.NANOS);
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(Patience.LIMIT));
        initiator.send(new ControlMessage(1, 1, QUERY));
        ChannelEnd.await(asked);

        service.abort("User requested abort");

        assertFailed(Status.CONNECTION_ABORTED, "User requested abort");
    }

    private ControlPayload.ErrorResponse answerError(
            java.util.function.UnaryOperator<ControlMessage> reply) {
        CompletableFuture<ControlMessage> answer = ask(QUERY, 5);
        target.run(c -> c.send(reply.apply(c.receive(Patience.LIMIT))));
        ControlMessage message = ChannelEnd.await(answer);
        assertThat(message.type()).isEqualTo(ControlMessageType.ERROR_RESPONSE);
        assertThat(message.messageId()).isEqualTo(lastMessageId);
        return (ControlPayload.ErrorResponse) message.payload();
    }
}
