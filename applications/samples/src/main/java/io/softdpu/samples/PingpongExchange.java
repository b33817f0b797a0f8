package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.roce.RoceQueuePair;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Exchange of queue pairs as {@code ibv_rc_pingpong} has it, over a TCP connection: each side sends
 * {@code LID:QPN:PSN:GID} in hexadecimal digits and a zero byte, the client first; then the client
 * sends {@code done} and a zero byte. The peer is not trusted: length and time of its text are
 * limited, and an error shows the text.
 */
final class PingpongExchange implements AutoCloseable {
    static final int DEFAULT_PORT = 18_515;

    private static final String DONE = "done";
    private static final int GID_BYTES = 16;
    private static final Pattern LINE =
            Pattern.compile("[0-9a-fA-F]{4}:([0-9a-fA-F]{6}):([0-9a-fA-F]{6}):([0-9a-fA-F]{32})");
    private static final int LINE_CHARACTERS = 4 + 1 + 6 + 1 + 6 + 1 + 2 * GID_BYTES;
    private static final String FORM =
            "LID:QPN:PSN:GID of 4, 6, 6 and 32 hexadecimal digits and a zero byte";

    private final Socket socket;
    private final Deadline deadline;

    private PingpongExchange(Socket socket, Deadline deadline) {
        this.socket = socket;
        this.deadline = deadline;
    }

    /** Connects to a server. */
    static PingpongExchange connect(InetSocketAddress server, Deadline deadline) {
        Socket socket = new Socket();
        boolean connected = false;
        try {
            socket.connect(server, millis(deadline));
            connected = true;
            return new PingpongExchange(socket, deadline);
        } catch (IOException e) {
            throw failed("server cannot be reached", server, e);
        } finally {
            if (!connected) {
                close(socket);
            }
        }
    }

    /**
     * Waits for a client.
     *
     * @param listening runs once a client can connect
     */
    static PingpongExchange accept(
            InetSocketAddress own, Deadline deadline, Consumer<InetSocketAddress> listening) {
        try (ServerSocket server = new ServerSocket()) {
            server.setReuseAddress(true);
            server.bind(own, 1);
            server.setSoTimeout(millis(deadline));
            listening.accept((InetSocketAddress) server.getLocalSocketAddress());
            return new PingpongExchange(server.accept(), deadline);
        } catch (SocketTimeoutException e) {
            throw new DpuException(
                    Status.TIME_OUT,
                    Text.format("no client has connected in time: address=%s", text(own)),
                    e);
        } catch (IOException e) {
            throw failed("clients cannot be accepted", own, e);
        }
    }

    /** Sends this side's queue pair. */
    void send(RoceQueuePair own) {
        byte[] address = own.gid().getAddress();
        byte[] gid = new byte[GID_BYTES];
        if (address.length < GID_BYTES) { // IPv4, mapped into IPv6
            gid[10] = (byte) 0xff;
            gid[11] = (byte) 0xff;
        }
        System.arraycopy(address, 0, gid, GID_BYTES - address.length, address.length);
        write(
                Text.format(
                        "0000:%06x:%06x:%s",
                        own.number(), own.firstPsn(), HexFormat.of().formatHex(gid)));
    }

    /** Receives the peer's queue pair, which has the given path MTU and read limit. */
    RoceQueuePair receive(int pathMtuBytes, int readLimit) {
        String line = read(LINE_CHARACTERS, FORM);
        Matcher parts = LINE.matcher(line);
        if (!parts.matches()) {
            throw refused(line, FORM);
        }
        try {
            return new RoceQueuePair(
                    InetAddress.getByAddress(HexFormat.of().parseHex(parts.group(3))),
                    HexFormat.fromHexDigits(parts.group(1)),
                    HexFormat.fromHexDigits(parts.group(2)),
                    pathMtuBytes,
                    readLimit);
        } catch (DpuException | UnknownHostException e) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "queue pair of the peer is illegal: peer=%s, line=%s, reason=%s",
                            peer(), ForeignText.escapeAndCut(line), Reason.of(e)),
                    e);
        }
    }

    /** Tells the server that its line has come. */
    void sendDone() {
        write(DONE);
    }

    /** Waits for that. */
    void receiveDone() {
        String line = read(DONE.length(), "done and a zero byte");
        if (!line.equals(DONE)) {
            throw refused(line, "done and a zero byte");
        }
    }

    private void write(String line) {
        try {
            OutputStream out = socket.getOutputStream();
            out.write((line + "\0").getBytes(StandardCharsets.US_ASCII));
            out.flush();
        } catch (IOException e) {
            throw failed("line cannot be sent", peerAddress(), e);
        }
    }

    /** Reads a line of a length and the zero byte behind it. */
    private String read(int characters, String expected) {
        byte[] bytes = new byte[characters + 1];
        int count = 0;
        try {
            InputStream in = socket.getInputStream();
            while (count < bytes.length) {
                socket.setSoTimeout(millis(deadline));
                int more = in.read(bytes, count, bytes.length - count);
                if (more < 0) {
                    throw new DpuException(
                            Status.CONNECTION_RESET,
                            Text.format(
                                    "peer has closed its TCP connection: peer=%s, lengthBytes=%d,"
                                            + " line=%s, expected=%s",
                                    peer(), count, shown(bytes, count), expected));
                }
                count += more;
            }
        } catch (SocketTimeoutException e) {
            throw new DpuException(
                    Status.TIME_OUT,
                    Text.format(
                            "peer has not sent its line in time: peer=%s, lengthBytes=%d, line=%s,"
                                    + " expected=%s",
                            peer(), count, shown(bytes, count), expected),
                    e);
        } catch (IOException e) {
            throw failed("line cannot be received", peerAddress(), e);
        }
        String line = ascii(bytes, count);
        if (line.indexOf('\0') != characters) {
            throw refused(line, expected);
        }
        return line.substring(0, characters);
    }

    private DpuException refused(String line, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "line of the peer is illegal: peer=%s, line=%s, expected=%s",
                        peer(), ForeignText.escapeAndCut(line), expected));
    }

    private static String shown(byte[] bytes, int count) {
        return ForeignText.escapeAndCut(ascii(bytes, count));
    }

    private static String ascii(byte[] bytes, int count) {
        return new String(Arrays.copyOf(bytes, count), StandardCharsets.ISO_8859_1);
    }

    private InetSocketAddress peerAddress() {
        return (InetSocketAddress) socket.getRemoteSocketAddress();
    }

    private String peer() {
        return text(peerAddress());
    }

    private static String text(InetSocketAddress address) {
        return Text.format("%s port %d", address.getAddress().getHostAddress(), address.getPort());
    }

    private static DpuException failed(String what, InetSocketAddress address, IOException e) {
        return new DpuException(
                e instanceof SocketTimeoutException ? Status.TIME_OUT : Status.IO_FAILED,
                Text.format("%s: address=%s, reason=%s", what, text(address), Reason.of(e)),
                e);
    }

    /** Time that is left, at least one millisecond: none would be no limit. */
    private static int millis(Deadline deadline) {
        return Math.clamp(deadline.remaining().toMillis(), 1, Integer.MAX_VALUE);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new DpuException(
                    Status.IO_FAILED, "TCP connection cannot be closed: reason=" + Reason.of(e), e);
        }
    }

    @Override
    public void close() {
        close(socket);
    }
}
