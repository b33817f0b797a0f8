package io.softdpu.storage.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Contract of all kinds of control channel; a subclass creates the two ends. */
@Clause("sto-050")
abstract class ControlChannelContract {
    private static final Duration SHORT = Duration.ofMillis(50);

    private static final ControlMessage QUERY =
            new ControlMessage(11, 22, new ControlPayload.QueryStorageRequest());
    private static final ControlMessage STOP =
            new ControlMessage(12, 23, new ControlPayload.StopStorageRequest());

    /** End that a test checks. */
    enum Which {
        SERVER,
        CLIENT
    }

    private ChannelEnd server;
    private ChannelEnd client;

    /** A listening end. */
    abstract ChannelEnd openServer();

    /** An end that connects to it, within that time. */
    abstract ChannelEnd openClient(long timeoutNanos);

    @BeforeEach
    void listen() {
        server = openServer();
    }

    @AfterEach
    void closeBoth() {
        // Together: an end that is closed may need the other one's progress.
        CompletableFuture<Void> closing =
                client == null
                        ? CompletableFuture.completedFuture(null)
                        : CompletableFuture.runAsync(client::close);
        server.close();
        ChannelEnd.await(closing);
    }

    @Test
    void shouldCarryMessagesBothWays() {
        connect();

        CompletableFuture<ControlMessage> atServer = server.begin(c -> c.receive(Patience.LIMIT));
        client.send(QUERY);
        assertThat(ChannelEnd.await(atServer)).isEqualTo(QUERY);

        CompletableFuture<ControlMessage> atClient = client.begin(c -> c.receive(Patience.LIMIT));
        server.send(STOP);
        assertThat(ChannelEnd.await(atClient)).isEqualTo(STOP);
    }

    @ParameterizedTest
    @EnumSource
    void shouldCarryAMessageThatIsLargerThanATransportUnit(Which sender) {
        connect();
        byte[] bytes = new byte[60_000];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i * 31 >>> 3);
        }
        ControlMessage large =
                new ControlMessage(
                        1, 2, new ControlPayload.InitStorageRequest(1, 1, Blob.of(bytes)));

        CompletableFuture<ControlMessage> received =
                other(sender).begin(c -> c.receive(Patience.LIMIT));
        end(sender)
                .run(c -> {
                    c.send(large);
                    c.flush(Patience.LIMIT);
                });

        assertThat(ChannelEnd.await(received)).isEqualTo(large);
    }

    @ParameterizedTest
    @EnumSource
    void shouldKeepTheOrderOfMany(Which sender) {
        connect();
        int count = 300;
        CompletableFuture<Void> received =
                other(sender)
                        .beginDo(c -> {
                            for (int i = 0; i < count; i++) {
                                assertThat(c.receive(Patience.LIMIT).messageId()).isEqualTo(i);
                            }
                        });
        end(sender)
                .run(c -> {
                    for (int i = 0; i < count; i++) {
                        c.send(new ControlMessage(i, 0, connection(i)));
                        c.flush(Patience.LIMIT);
                    }
                });
        ChannelEnd.await(received);
    }

    @ParameterizedTest
    @EnumSource
    void shouldSayWhyItGivesUpAlsoAfterAnAbort(Which leaving) {
        connect();
        CompletableFuture<ControlMessage> heard =
                other(leaving).begin(c -> c.receive(Patience.LIMIT));
        end(leaving).channel.abort("User requested abort");

        end(leaving)
                .run(c -> {
                    c.sendFinalError(
                            ControlPayload.ErrorResponse.of(
                                    Status.CONNECTION_ABORTED, "why it goes"));
                    // One word is enough, and it is the first.
                    c.sendFinalError(
                            ControlPayload.ErrorResponse.of(Status.DRIVER, "another reason"));
                });
        // The word goes out with the next progress, which is that of the close.
        CompletableFuture<Void> closing = CompletableFuture.runAsync(end(leaving)::close);

        assertThat(ChannelEnd.await(heard))
                .isEqualTo(
                        new ControlMessage(
                                0,
                                0,
                                ControlPayload.ErrorResponse.of(
                                        Status.CONNECTION_ABORTED, "why it goes")));
        assertStatus(
                () -> other(leaving).call(c -> c.receive(Patience.LIMIT)),
                Status.CONNECTION_RESET,
                "has ended");
        ChannelEnd.await(closing);
        server = leaving == Which.SERVER ? openServer() : server;
        client = leaving == Which.CLIENT ? null : client;
    }

    @ParameterizedTest
    @EnumSource
    void shouldTakeAPeerThatDoesNotWaitForItsLastAnswerForOneThatHasAll(Which asking) {
        connect();
        end(asking).send(STOP);
        ControlMessage request = other(asking).call(c -> c.receive(Patience.LIMIT));
        CompletableFuture<Void> leaving = CompletableFuture.runAsync(end(asking)::close);
        assertStatus(
                () -> other(asking).call(c -> c.receive(Patience.LIMIT)),
                Status.CONNECTION_RESET,
                "has ended");

        // A reply that is not the last is awaited by the peer, so its loss is a failure.
        ControlPayload answer = new ControlPayload.StopStorageResponse();
        assertStatus(
                () -> other(asking).run(c -> new ControlExchange(c).reply(request, answer)),
                Status.CONNECTION_RESET,
                "has ended");
        other(asking).run(c -> new ControlExchange(c).replyLast(request, answer, Patience.LIMIT));
        ChannelEnd.await(leaving);
        server = asking == Which.SERVER ? openServer() : server;
        client = asking == Which.CLIENT ? null : client;
    }

    @ParameterizedTest
    @EnumSource
    void shouldSayThatNoMessageCameInTime(Which which) {
        connect();

        assertStatus(
                () -> end(which).call(c -> c.receive(SHORT)),
                Status.TIME_OUT,
                "no control message received");
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAWaitForAMessageWhenItIsAborted(Which which) {
        connect();
        CompletableFuture<ControlMessage> waiting =
                end(which).begin(c -> c.receive(Deadline.NO_LIMIT));

        end(which).channel.abort("User requested abort");

        assertStatus(
                () -> ChannelEnd.await(waiting), Status.CONNECTION_ABORTED, "User requested abort");
        assertStatus(
                () -> end(which).run(c -> c.send(QUERY)),
                Status.CONNECTION_ABORTED,
                "User requested abort");
    }

    @Test
    void shouldEndTheWaitForAClientWhenItIsAborted() {
        CompletableFuture<Void> waiting = server.beginDo(c -> c.awaitConnected(Deadline.NO_LIMIT));

        server.channel.abort("User requested abort");
        server.channel.abort("too late to count");

        assertStatus(
                () -> ChannelEnd.await(waiting), Status.CONNECTION_ABORTED, "User requested abort");
    }

    @Test
    void shouldBoundTheWaitForAClientWhereThatIsWanted() {
        assertStatus(
                () -> server.run(c -> c.awaitConnected(SHORT)),
                Status.TIME_OUT,
                "no client connected");
    }

    @ParameterizedTest
    @EnumSource
    void shouldHandOutWhatThePeerHadSaidAndThenTellThatItHasGone(Which which) {
        connect();
        CompletableFuture<ControlMessage> first = end(which).begin(c -> c.receive(Patience.LIMIT));
        other(which)
                .run(c -> {
                    c.send(QUERY);
                    c.flush(Patience.LIMIT);
                });
        assertThat(ChannelEnd.await(first)).isEqualTo(QUERY);

        CompletableFuture<ControlMessage> second = end(which).begin(c -> c.receive(Patience.LIMIT));
        CompletableFuture<Void> closing = other(which).beginDo(ControlChannel::close);

        assertStatus(() -> ChannelEnd.await(second), Status.CONNECTION_RESET, "peer has ended");
        assertThat(end(which).call(ControlChannel::isConnected)).isFalse();
        assertStatus(
                () -> end(which).run(c -> c.send(QUERY)),
                Status.CONNECTION_RESET,
                "peer has ended");
        ChannelEnd.await(closing);
    }

    @Test
    void shouldNotSendBeforeAPeerIsThere() {
        assertStatus(
                () -> server.run(c -> c.send(QUERY)),
                Status.NOT_CONNECTED,
                "type=query_storage_request");
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAnAwaitByAWakeup(Which which) {
        connect();
        CompletableFuture<Void> waiting =
                end(which).beginDo(c -> c.await(Patience.LIMIT.multipliedBy(2)));

        end(which).channel.wakeup();

        ChannelEnd.await(waiting);
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseToPileUpForAPeerThatDoesNotRead(Which which) {
        connect();
        Blob blob = Blob.of(new byte[60_000]);

        assertStatus(
                () ->
                        end(which)
                                .run(c -> {
                                    for (int i = 0; i < 10_000; i++) {
                                        c.send(
                                                new ControlMessage(
                                                        i,
                                                        0,
                                                        new ControlPayload.InitStorageRequest(
                                                                1, 1, blob)));
                                    }
                                }),
                Status.FULL,
                "peer does not receive its control messages");
    }

    /** Its transport takes what it has room for, and a message in part. */
    @ParameterizedTest
    @EnumSource
    void shouldSendTheRestOfWhatItsTransportDidNotTakeAtOnce(Which sender) {
        connect();
        byte[] bytes = new byte[60_000];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i * 13 >>> 2);
        }
        Blob blob = Blob.of(bytes);
        int sent =
                end(sender)
                        .call(c -> {
                            int count = 0;
                            try {
                                while (true) { // until no more is taken
                                    c.send(
                                            new ControlMessage(
                                                    count,
                                                    0,
                                                    new ControlPayload.InitStorageRequest(
                                                            1, 1, blob)));
                                    count++;
                                }
                            } catch (DpuException e) {
                                assertThat(e.status()).isEqualTo(Status.FULL);
                            }
                            return count;
                        });

        CompletableFuture<Void> received =
                other(sender)
                        .beginDo(c -> {
                            for (int i = 0; i < sent; i++) {
                                ControlMessage message = c.receive(Patience.LIMIT);
                                assertThat(message.messageId()).isEqualTo(i);
                                assertThat(
                                                ((ControlPayload.InitStorageRequest)
                                                                message.payload())
                                                        .mmapExport())
                                        .isEqualTo(blob);
                            }
                        });
        end(sender).run(c -> c.flush(Patience.LIMIT));

        ChannelEnd.await(received);
    }

    @Test
    @Clause({"sto-057", "sto-001"})
    void shouldRejectEachFurtherClientAndKeepTheFirst() {
        connect();
        CompletableFuture<ControlMessage> serving = server.begin(c -> c.receive(Deadline.NO_LIMIT));

        for (String further : List.of("second", "third", "fourth")) {
            assertThat(statusOfSecondClient()).as(further).isEqualTo(Status.FULL);
        }

        client.send(QUERY);
        assertThat(ChannelEnd.await(serving)).isEqualTo(QUERY);
    }

    @Test
    void shouldMatchRepliesToRequests() {
        connect();
        CompletableFuture<Void> serving =
                server.beginDo(c -> {
                    ControlExchange exchange = new ControlExchange(c);
                    ControlMessage request = c.receive(Patience.LIMIT);
                    assertThat(request.correlationId()).isEqualTo(77);
                    exchange.reply(request, new ControlPayload.QueryStorageResponse(8192, 512));
                });

        ControlPayload reply =
                client.call(c ->
                        new ControlExchange(c)
                                .request(
                                        new ControlPayload.QueryStorageRequest(),
                                        77,
                                        ControlMessageType.QUERY_STORAGE_RESPONSE,
                                        Patience.LIMIT));

        assertThat(reply).isEqualTo(new ControlPayload.QueryStorageResponse(8192, 512));
        ChannelEnd.await(serving);
    }

    @Test
    @Clause("sto-014")
    void shouldNameWhatCameAndWhatWasExpectedInAReply() {
        connect();

        assertReply(
                request -> request.reply(new ControlPayload.InitStorageResponse()),
                Status.UNEXPECTED,
                "got=init_storage_response, expected=query_storage_response");
        assertReply(
                request -> new ControlMessage(request.messageId() + 5, 77, response()),
                Status.UNEXPECTED,
                "field=messageId, got=");
        assertReply(
                request -> new ControlMessage(request.messageId(), 78, response()),
                Status.UNEXPECTED,
                "field=correlationId, got=78, expected=77");
        assertReply(
                request ->
                        request.reply(
                                ControlPayload.ErrorResponse.of(
                                        Status.NOT_SUPPORTED, "no such thing")),
                Status.NOT_SUPPORTED,
                "no such thing");
    }

    @Test
    @Clause("sto-044")
    void shouldSayThatNoReplyCameInTime() {
        connect();

        assertStatus(
                () ->
                        client.call(c ->
                                new ControlExchange(c)
                                        .request(
                                                new ControlPayload.QueryStorageRequest(),
                                                1,
                                                ControlMessageType.QUERY_STORAGE_RESPONSE,
                                                SHORT)),
                Status.TIME_OUT,
                "request=query_storage_request");
    }

    @Test
    void shouldBeClosedTwiceWithoutHarmAndThenRefuseEverything() {
        server.run(c -> {
            c.close();
            c.close();
            assertStatus(c::poll, Status.BAD_STATE, "closed");
        });
    }

    /** The status that a second client is rejected with, while the server's thread receives. */
    abstract Status statusOfSecondClient();

    final void connect() {
        CompletableFuture<Void> accepting =
                server.beginDo(c -> c.awaitConnected(Deadline.NO_LIMIT));
        client = openClient(Patience.NANOS);
        client.run(c -> c.awaitConnected(Patience.LIMIT));
        ChannelEnd.await(accepting);
    }

    static void assertStatus(ThrowingCallable action, Status status, String reason) {
        assertThatThrownBy(action)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status))
                .hasMessageContaining(reason);
    }

    private void assertReply(
            java.util.function.UnaryOperator<ControlMessage> answer, Status status, String reason) {
        CompletableFuture<Void> serving =
                server.beginDo(c -> {
                    c.send(answer.apply(c.receive(Patience.LIMIT)));
                    c.flush(Patience.LIMIT);
                });
        assertStatus(
                () ->
                        client.call(c ->
                                new ControlExchange(c)
                                        .request(
                                                new ControlPayload.QueryStorageRequest(),
                                                77,
                                                ControlMessageType.QUERY_STORAGE_RESPONSE,
                                                Patience.LIMIT)),
                status,
                reason);
        ChannelEnd.await(serving);
    }

    private static ControlPayload response() {
        return new ControlPayload.QueryStorageResponse(8192, 512);
    }

    private static ControlPayload connection(int i) {
        return new ControlPayload.CreateRdmaConnectionRequest(
                i, RdmaConnectionRole.IO_DATA, Blob.of(new byte[i + 1]));
    }

    private ChannelEnd end(Which which) {
        return which == Which.SERVER ? server : client;
    }

    private ChannelEnd other(Which which) {
        return which == Which.SERVER ? client : server;
    }

    final ChannelEnd server() {
        return server;
    }

    final ChannelEnd client() {
        return client;
    }
}
