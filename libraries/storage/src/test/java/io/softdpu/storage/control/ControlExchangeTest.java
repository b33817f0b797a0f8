package io.softdpu.storage.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.HostileText;
import io.softdpu.testkit.Patience;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Last reply of a session, for a peer that does not wait for it. */
class ControlExchangeTest {
    private static final ControlMessage LAST_REQUEST =
            new ControlMessage(1, 1, new ControlPayload.ShutdownRequest());

    private ChannelEnd server;
    private ChannelEnd client;

    @BeforeEach
    void connect() {
        server = ChannelEnd.tcpServer("server");
        client = ChannelEnd.tcpClient("client", server.address());
        CompletableFuture<Void> accepting = server.beginDo(c -> c.awaitConnected(Patience.LIMIT));
        client.run(c -> c.awaitConnected(Patience.LIMIT));
        ChannelEnd.await(accepting);
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    /** To a peer that takes nothing before; no later call of the channel could send it. */
    @Test
    @Clause("sto-089")
    void shouldReturnFromTheLastAnswerOnceItIsSent() {
        ControlMessage filling =
                new ControlMessage(
                        2, 1, new ControlPayload.InitStorageRequest(1, 1, Blob.of(new byte[4096])));
        client.run(c -> c.send(LAST_REQUEST));
        ControlMessage request = server.call(c -> c.receive(Patience.LIMIT));
        int sent = server.call(c -> sendUntilFull(c, filling));

        CompletableFuture<Void> replying = server.beginDo(c -> replyLast(c, request));
        client.run(c -> {
            for (int i = 0; i < sent; i++) {
                assertThat(c.receive(Patience.LIMIT)).isEqualTo(filling);
            }
            assertThat(c.receive(Patience.LIMIT))
                    .isEqualTo(LAST_REQUEST.reply(new ControlPayload.ShutdownResponse()));
        });
        ChannelEnd.await(replying);
    }

    /** Sends until one waits for the peer; the number sent. */
    private static int sendUntilFull(ControlChannel channel, ControlMessage message) {
        int sent = 0;
        while (true) {
            channel.send(message);
            sent++;
            try {
                channel.flush(Duration.ZERO);
            } catch (DpuException e) {
                assertThat(e.status()).isEqualTo(Status.TIME_OUT);
                return sent;
            }
        }
    }

    @Test
    void shouldDoWithoutSomebodyWhoLeftBeforeTheLastAnswer() {
        client.run(c -> c.send(LAST_REQUEST));
        client.run(ControlChannel::close);

        server.run(c -> {
            replyLast(c, c.receive(Patience.LIMIT));
            assertThat(c.isConnected()).isFalse();
        });
    }

    @Test
    void shouldSayThatThePeerGaveUpBeforeTheLastAnswer() {
        ControlPayload.ErrorResponse word =
                ControlPayload.ErrorResponse.of(Status.TIME_OUT, "nobody answered");
        client.run(c -> {
            c.send(LAST_REQUEST);
            c.send(new ControlMessage(0, 0, word));
        });
        client.run(ControlChannel::close);

        RemoteErrorException failure =
                server.call(c -> {
                    ControlMessage request = c.receive(Patience.LIMIT);
                    Await.until("the word has come", c::progress);
                    return catchThrowableOfType(
                            RemoteErrorException.class, () -> replyLast(c, request));
                });

        assertThat(failure.response()).isEqualTo(word);
    }

    @Test
    void shouldNotAnswerAPeerThatHasSaidWhyItGaveUp() {
        client.run(c -> {
            c.send(LAST_REQUEST);
            c.send(
                    new ControlMessage(
                            0, 0, ControlPayload.ErrorResponse.of(Status.TIME_OUT, "no answer")));
        });

        server.run(c -> {
            ControlMessage request = c.receive(Patience.LIMIT);
            Await.until("the word has come", c::progress);
            RemoteErrorException word =
                    catchThrowableOfType(RemoteErrorException.class, () -> replyLast(c, request));
            new ControlExchange(c).replyError(request, word);
            c.flush(Patience.LIMIT);
        });
        server.run(ControlChannel::close);

        DpuException end =
                client.call(c ->
                        catchThrowableOfType(DpuException.class, () -> c.receive(Patience.LIMIT)));
        assertThat(end.status()).isEqualTo(Status.CONNECTION_RESET);
    }

    @Test
    void shouldNotOverlookWhatComesInPlaceOfNothing() {
        client.run(c -> {
            c.send(LAST_REQUEST);
            c.send(LAST_REQUEST);
        });

        DpuException failure =
                server.call(c -> {
                    ControlMessage request = c.receive(Patience.LIMIT);
                    Await.until("another has come", c::progress);
                    return catchThrowableOfType(DpuException.class, () -> replyLast(c, request));
                });

        assertThat(failure.status()).isEqualTo(Status.UNEXPECTED);
        assertThat(failure).hasMessageContaining("got=shutdown_request");
    }

    @Test
    void shouldTakeAnErrorWithTheCodeOfASuccessForOneWithoutAStatus() {
        ControlPayload.ErrorResponse word =
                new ControlPayload.ErrorResponse(0, "volume is gone: lun=7");
        client.run(c -> c.send(new ControlMessage(1, 9, word)));

        DpuException failure =
                server.call(c ->
                        catchThrowableOfType(
                                DpuException.class,
                                () ->
                                        new ControlExchange(c)
                                                .request(
                                                        new ControlPayload.StopStorageRequest(),
                                                        9,
                                                        ControlMessageType.STOP_STORAGE_RESPONSE,
                                                        Patience.LIMIT)));

        assertThat(failure.status()).isEqualTo(Status.UNKNOWN);
        assertThat(failure).hasMessage("volume is gone: lun=7");
        assertThat(failure)
                .as("passed on as it came")
                .isInstanceOfSatisfying(
                        RemoteErrorException.class,
                        remote -> assertThat(remote.response()).isEqualTo(word));
    }

    @Test
    void shouldShowAPeersReasonEscapedAndCutAndPassItOnAsItCame() {
        // As much as an error_response may hold.
        ControlPayload.ErrorResponse word =
                ControlPayload.ErrorResponse.of(Status.IO_FAILED, HostileText.of(16_000));
        client.run(c -> c.send(new ControlMessage(1, 9, word)));

        RemoteErrorException failure =
                server.call(c ->
                        catchThrowableOfType(
                                RemoteErrorException.class,
                                () ->
                                        new ControlExchange(c)
                                                .request(
                                                        new ControlPayload.StopStorageRequest(),
                                                        9,
                                                        ControlMessageType.STOP_STORAGE_RESPONSE,
                                                        Patience.LIMIT)));

        HostileText.requireHarmless(failure.getMessage());
        assertThat(failure.getMessage()).hasSizeLessThanOrEqualTo(256);
        assertThat(failure.response()).isEqualTo(word);
    }

    @Test
    void shouldKeepTheCauseThatALongReasonEndsWith() {
        String reason = "target ended: reason=" + "x".repeat(1000) + ", errno=24 (EMFILE)";

        assertThat(
                        new RemoteErrorException(
                                ControlPayload.ErrorResponse.of(Status.OPERATING_SYSTEM, reason)))
                .hasMessageStartingWith("target ended: reason=xxx")
                .hasMessageEndingWith("xxx, errno=24 (EMFILE)");
    }

    private static void replyLast(ControlChannel channel, ControlMessage request) {
        new ControlExchange(channel)
                .replyLast(request, new ControlPayload.ShutdownResponse(), Patience.LIMIT);
    }
}
