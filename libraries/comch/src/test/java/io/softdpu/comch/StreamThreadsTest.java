package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Streams whose sides have threads of their own, which sleep while idle. */
class StreamThreadsTest {
    private static final int MESSAGES = 2000;

    @TempDir Path folder;

    @Test
    void shouldReplyToOneMessageAfterAnother() throws Exception {
        assertThat(
                        withEchoingServer(() -> {
                            try (StreamPeer peer = new StreamPeer(Side.HOST, folder)) {
                                ComchStream stream = peer.stream(peer.connection());
                                for (int i = 0; i < MESSAGES; i++) {
                                    send(stream.claim(Patience.LIMIT), i);
                                    requireNumber(stream.receive(Patience.LIMIT), i);
                                }
                                stream.close();
                                return MESSAGES;
                            }
                        }))
                .isEqualTo(MESSAGES);
    }

    /** The stream has an engine and a thread of its own, beside that of the connection. */
    @Test
    void shouldRunOnAnotherEngineThanTheConnection() throws Exception {
        assertThat(
                        withEchoingServer(() -> {
                            try (StreamPeer peer = new StreamPeer(Side.HOST, folder);
                                    ExecutorService other = Executors.newSingleThreadExecutor()) {
                                ComchConnection connection = peer.connection();
                                Future<Integer> work = other.submit(() -> exchangeOn(connection));
                                peer.until("work of the other thread", work::isDone);
                                return work.get();
                            }
                        }))
                .isEqualTo(MESSAGES);
    }

    private static int exchangeOn(ComchConnection connection) {
        try (ProgressEngine engine = ProgressEngine.create();
                ComchStream stream = ComchStream.create(connection).setSendBuffers(3)) {
            engine.start(stream, Patience.LIMIT);
            int received = 0;
            for (int sent = 0; received < MESSAGES; ) {
                ComchSendBuffer buffer = sent < MESSAGES ? stream.tryClaim() : null;
                if (buffer != null) {
                    send(buffer, sent++);
                } else {
                    requireNumber(stream.receive(Patience.LIMIT), received++);
                }
            }
            return received;
        }
    }

    /** A notification selects contexts, which include those that the stream consists of. */
    @Test
    void shouldWorkInEventMode() throws Exception {
        assertThat(
                        withEchoingServer(() -> {
                            try (StreamPeer peer = new StreamPeer(Side.HOST, folder)) {
                                return exchangeInEventMode(peer);
                            }
                        }))
                .isEqualTo(MESSAGES);
    }

    private static int exchangeInEventMode(StreamPeer peer) {
        ComchStream stream = ComchStream.create(peer.connection()).setSendBuffers(8);
        peer.engine.connect(stream);
        stream.start();
        int sent = 0;
        int received = 0;
        while (received < MESSAGES) {
            turn(peer.engine, stream, sent, received);
            ComchSendBuffer buffer;
            while (sent < MESSAGES && (buffer = stream.tryClaim()) != null) {
                send(buffer, sent++);
            }
            ComchReceiveBuffer reply;
            while ((reply = stream.tryReceive()) != null) {
                requireNumber(reply, received++);
            }
        }
        stream.stop();
        while (stream.state() != ContextState.IDLE) {
            turn(peer.engine, stream, sent, received);
        }
        stream.close();
        return received;
    }

    private static void turn(ProgressEngine engine, ComchStream stream, int sent, int received) {
        if (engine.progress()) {
            return;
        }
        engine.requestNotification();
        if (!engine.awaitNotification(Patience.LIMIT)) {
            throw new AssertionError(
                    Text.format(
                            "no notification: stream=%s, state=%s, sent=%d, received=%d, tasks=%d",
                            stream, stream.state(), sent, received, engine.inFlightTasks()));
        }
        engine.clearNotification();
    }

    @Test
    void shouldRefuseOtherThreads() throws Exception {
        withEchoingServer(() -> {
            try (StreamPeer peer = new StreamPeer(Side.HOST, folder);
                    ExecutorService other = Executors.newSingleThreadExecutor()) {
                ComchStream stream = peer.stream(peer.connection());
                ComchSendBuffer buffer = stream.claim(Patience.LIMIT);
                refuse(other, stream::tryClaim);
                refuse(other, stream::tryReceive);
                refuse(other, () -> stream.receive(Patience.LIMIT));
                refuse(
                        other,
                        () -> {
                            buffer.send(1);
                            return 0;
                        });
                buffer.send(1);
                ComchReceiveBuffer reply = stream.receive(Patience.LIMIT);
                refuse(
                        other,
                        () -> {
                            reply.close();
                            return 0;
                        });
                stream.close();
                return 0;
            }
        });
    }

    private static void refuse(ExecutorService other, Callable<?> call) {
        assertThatThrownBy(() -> other.submit(call).get())
                .cause()
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_PERMITTED));
    }

    /** Runs a client beside a server that echoes until the client ends, and returns its result. */
    private int withEchoingServer(Callable<Integer> client) throws Exception {
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            Future<Integer> echoed =
                    threads.submit(() -> {
                        try (StreamPeer peer = new StreamPeer(Side.DPU, folder)) {
                            ComchStream stream = peer.stream(peer.connection());
                            int messages = peer.echo(stream);
                            assertThat(stream.failure()).isNull();
                            stream.close();
                            return messages;
                        }
                    });
            Future<Integer> result = threads.submit(client);
            int value = result.get(Patience.SECONDS, TimeUnit.SECONDS);
            echoed.get(Patience.SECONDS, TimeUnit.SECONDS);
            return value;
        }
    }

    private static void send(ComchSendBuffer buffer, int number) {
        buffer.segment().set(ValueLayout.JAVA_INT, 0, number);
        buffer.send(Integer.BYTES);
    }

    private static void requireNumber(ComchReceiveBuffer message, int expected) {
        assertThat(message.segment().get(ValueLayout.JAVA_INT, 0)).isEqualTo(expected);
        message.close();
    }
}
