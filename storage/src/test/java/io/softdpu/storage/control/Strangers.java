package io.softdpu.storage.control;

import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.FrameAssembler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Clients of a TCP control port that say what a test wants, or nothing. */
public final class Strangers implements AutoCloseable {
    private static final int READ_TIMEOUT_MILLIS = 30_000;

    private static final byte[] QUERY =
            ControlCodec.encode(new ControlMessage(7, 8, new ControlPayload.QueryStorageRequest()));

    /** What somebody says who never becomes a client. */
    public enum Kind {
        SILENT(new byte[0], ""),
        HALF_A_LENGTH(new byte[] {0, 0}, ""),
        HALF_A_MESSAGE(Arrays.copyOf(QUERY, QUERY.length - 1), ""),
        A_LENGTH_TOO_LARGE(
                new byte[] {0, 0, 4, 1}, "wire_size is illegal: wire_size=1025, expected=12 to"),
        A_LENGTH_TOO_SMALL(new byte[4], "wire_size is illegal: wire_size=0, expected=12 to 1024"),
        ANOTHER_PROTOCOL(
                "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII),
                "wire_size is illegal: wire_size=1195725856, expected=12 to 1024"),
        NO_TYPE(
                ByteBuffer.allocate(16).putInt(12).putInt(0x7fff_ffff).array(),
                "message_type is unknown: message_type=2147483647");

        final byte[] said;
        final String refusal;

        Kind(byte[] said, String refusal) {
            this.said = said;
            this.refusal = refusal;
        }
    }

    private final InetSocketAddress address;
    private final List<Socket> sockets = new ArrayList<>();

    public Strangers(InetSocketAddress address) {
        this.address = address;
    }

    /** One that says this and keeps its connection. */
    public Socket add(byte... said) throws IOException {
        Socket socket = new Socket();
        sockets.add(socket);
        socket.connect(address, READ_TIMEOUT_MILLIS);
        socket.setSoTimeout(READ_TIMEOUT_MILLIS);
        socket.getOutputStream().write(said);
        return socket;
    }

    public Socket add(Kind kind) throws IOException {
        return add(kind.said);
    }

    /** Why the server has sent one away: waits for its end of stream. */
    static ControlPayload.ErrorResponse refusal(Socket stranger) throws IOException {
        FrameAssembler assembler = new FrameAssembler();
        byte[] bytes = new byte[4096];
        while (true) {
            int count = stranger.getInputStream().read(bytes);
            if (count < 0) {
                throw new AssertionError("sent away without a word");
            }
            ControlMessage message = assembler.feed(ByteBuffer.wrap(bytes, 0, count));
            if (message != null) {
                requireEnd(stranger);
                return (ControlPayload.ErrorResponse) message.payload();
            }
        }
    }

    private static void requireEnd(Socket stranger) throws IOException {
        try {
            if (stranger.getInputStream().read() >= 0) {
                throw new AssertionError("more than one word");
            }
        } catch (SocketException e) {
            // A reset: it had said more than the server has read.
        }
    }

    @Override
    public void close() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
