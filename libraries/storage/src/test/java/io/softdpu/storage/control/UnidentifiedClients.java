package io.softdpu.storage.control;

import io.softdpu.core.Status;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.FrameAssembler;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Clients of a TCP control port that send arbitrary bytes, or nothing. */
public final class UnidentifiedClients implements AutoCloseable {
    private static final int READ_TIMEOUT_MILLIS = (int) Patience.LIMIT.toMillis();

    /** Bytes of a client that is never selected, in hexadecimal digits, and the reply. */
    public enum Kind {
        SILENT("", null, ""),
        HALF_A_LENGTH("0000", null, ""),
        HALF_A_MESSAGE("0000000c" + "00000001" + "00000007" + "0000", null, ""),
        A_LENGTH_TOO_LARGE(
                "00000401",
                Status.INVALID_VALUE,
                "wire size is illegal: wireSizeBytes=1025, expected=12 to 1024"),
        A_LENGTH_TOO_SMALL(
                "00000000",
                Status.INVALID_VALUE,
                "wire size is illegal: wireSizeBytes=0, expected=12 to 1024"),
        ANOTHER_PROTOCOL( // GET / HTTP/1.1
                "474554202f20485454502f312e310d0a0d0a",
                Status.INVALID_VALUE,
                "wire size is illegal: wireSizeBytes=1195725856, expected=12 to 1024"),
        NO_TYPE(
                "0000000c" + "7fffffff" + "00000007" + "00000008",
                Status.INVALID_VALUE,
                "message type is unknown: messageType=2147483647"),
        A_SHUTDOWN(
                "0000000c" + "0000000b" + "00000007" + "00000008",
                Status.UNEXPECTED,
                "field=type, got=shutdown_request, expected=hello or query_storage_request"),
        AN_ANSWER(
                "0000000c" + "0000000c" + "00000007" + "00000008",
                Status.UNEXPECTED,
                "field=type, got=shutdown_response, expected=hello or query_storage_request");

        private final String said;
        final Status status;
        final String refusal;

        Kind(String said, Status status, String refusal) {
            this.said = said;
            this.status = status;
            this.refusal = refusal;
        }
    }

    private final InetSocketAddress address;
    private final List<Socket> sockets = new ArrayList<>();

    public UnidentifiedClients(InetSocketAddress address) {
        this.address = address;
    }

    /** Adds a client that sends these bytes and keeps its connection. */
    public Socket add(byte... said) throws IOException {
        Socket socket = new Socket();
        sockets.add(socket);
        socket.connect(address, READ_TIMEOUT_MILLIS);
        socket.setSoTimeout(READ_TIMEOUT_MILLIS);
        socket.getOutputStream().write(said);
        return socket;
    }

    public Socket add(Kind kind) throws IOException {
        return add(HexFormat.of().parseHex(kind.said));
    }

    /** The server's refusal; waits for the end of the stream. */
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
