package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.execution.ContextState;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** A server with one client, and a stream of each; one thread drives both sides. */
abstract class StreamFixture extends FastPathFixture {
    static final int BYTES = 4096;

    ComchStream atClient;
    ComchStream atServer;

    /** Neither side waits long for replies from now on. */
    void limitReplies() {
        Peer.limitReplies(pair.client().connection());
        Peer.limitReplies(pair.server().connection());
    }

    /** Creates both streams, IDLE. */
    void create(int sendBuffers, int receiveBuffers) {
        atClient = stream(pair.client()).setSendBuffers(sendBuffers);
        atServer = stream(pair.server()).setReceiveBuffers(receiveBuffers);
    }

    /** Creates and starts both streams. */
    void open(int sendBuffers, int receiveBuffers) {
        create(sendBuffers, receiveBuffers);
        start();
    }

    void start() {
        atClient.start();
        atServer.start();
        card.until("client's stream runs", () -> atClient.state() == ContextState.RUNNING);
        card.until("server's stream runs", () -> atServer.state() == ContextState.RUNNING);
    }

    ComchStream stream(Peer of) {
        ComchStream stream = card.keep(ComchStream.create(of.connection()));
        stream.setBufferBytes(BYTES);
        (of == pair.server() ? card.dpuEngine : card.hostEngine).connect(stream);
        card.atEnd(() -> Peer.stop(card, stream));
        return stream;
    }

    /** Sends a message that consists of one number; false if there is no free buffer. */
    static boolean send(ComchStream stream, int number) {
        ComchSendBuffer buffer = stream.tryClaim();
        if (buffer == null) {
            return false;
        }
        buffer.segment().set(ValueLayout.JAVA_INT, 0, number);
        buffer.send(Integer.BYTES);
        return true;
    }

    static void send(ComchStream stream, byte[] message, byte[] immediate) {
        ComchSendBuffer buffer = Objects.requireNonNull(stream.tryClaim());
        MemorySegment.copy(message, 0, buffer.segment(), ValueLayout.JAVA_BYTE, 0, message.length);
        if (immediate.length > 0) {
            buffer.setImmediate(MemorySegment.ofArray(immediate), 0, immediate.length);
        }
        buffer.send(message.length);
    }

    /** Takes and closes all messages, each of which consists of one number. */
    static List<Integer> numbers(ComchStream stream) {
        List<Integer> numbers = new ArrayList<>();
        ComchReceiveBuffer buffer;
        while ((buffer = stream.tryReceive()) != null) {
            assertThat(buffer.length()).isEqualTo(Integer.BYTES);
            numbers.add(buffer.segment().get(ValueLayout.JAVA_INT, 0));
            buffer.close();
        }
        return numbers;
    }

    ComchReceiveBuffer next(ComchStream stream) {
        ComchReceiveBuffer[] taken = new ComchReceiveBuffer[1];
        card.until("message", () -> (taken[0] = stream.tryReceive()) != null);
        return taken[0];
    }

    static byte[] bytes(ComchReceiveBuffer message) {
        return message.segment().asSlice(0, message.length()).toArray(ValueLayout.JAVA_BYTE);
    }

    static byte[] immediate(ComchReceiveBuffer message) {
        return message.immediate()
                .asSlice(0, message.immediateLength())
                .toArray(ValueLayout.JAVA_BYTE);
    }

    void untilEnded(ComchStream stream) {
        card.until("ended: " + stream, () -> stream.state() == ContextState.IDLE);
    }
}
