import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The program verbs-peer.c in the guest: a line to it, a line from it. */
final class LinuxPeer implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(40);

    // Of enum ibv_wc_status.
    static final int SUCCESS = 0;
    static final int LOCAL_OPERATION = 2; // of a receive that was too short
    static final int REMOTE_ACCESS = 10;
    static final int REMOTE_OPERATION = 11;
    static final int RNR_RETRIES_EXCEEDED = 13;

    private final Socket socket;
    private final BufferedReader in;
    private final OutputStream out;
    private final Duration timeout;

    LinuxPeer(InetAddress guest, int port) throws IOException {
        this(guest, port, TIMEOUT);
    }

    /** A peer with another time after which a cell has failed. */
    LinuxPeer(InetAddress guest, int port, Duration timeout) throws IOException {
        this.timeout = timeout;
        socket = new Socket(guest, port);
        socket.setSoTimeout((int) timeout.plusSeconds(10).toMillis());
        socket.setTcpNoDelay(true);
        in =
                new BufferedReader(
                        new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
        out = socket.getOutputStream();
    }

    /** The time after which a cell has failed. */
    Duration timeout() {
        return timeout;
    }

    /** The words behind ok. */
    String[] ask(String line) throws IOException {
        tell(line);
        return answer(line);
    }

    /** Writes a line, whose answer is read later. */
    void tell(String line) throws IOException {
        out.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        out.flush();
    }

    /** The words behind ok in the answer to a line that was told. */
    String[] answer(String line) throws IOException {
        String answer = in.readLine();
        if (answer == null || !answer.startsWith("ok")) {
            throw new IOException("peer cannot: line=" + line + ", answer=" + answer);
        }
        return answer.equals("ok") ? new String[0] : answer.substring(3).split(" ");
    }

    long number(String line) throws IOException {
        return Long.parseUnsignedLong(ask(line)[0].replace("-1", "18446744073709551615"));
    }

    String[] completion() throws IOException {
        String[] words = ask("wait " + timeout.toMillis());
        if (words[0].equals("none")) {
            throw new IOException("peer has no completion");
        }
        return words;
    }

    void expectCompletion(int status) throws IOException {
        equal("status of Linux", status, Long.parseLong(completion()[0]));
    }

    void expectCompletion(int status, int length, int immediate) throws IOException {
        String[] words = completion();
        equal("status of Linux", status, Long.parseLong(words[0]));
        equal("length of Linux", length, Long.parseLong(words[2]));
        equal("immediate of Linux", Integer.toUnsignedLong(immediate), Long.parseLong(words[3]));
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    void fill(long offset, long size, int seed) throws IOException {
        ask("fill " + offset + " " + size + " " + seed);
    }

    /** Throws if its memory is another than what {@link #fill} writes. */
    void requireFilled(long offset, long size, int seed) throws IOException {
        equal(
                "byte that differs in Linux",
                -1,
                number("compare " + offset + " " + size + " " + seed));
    }

    static void equal(String what, long expected, long actual) {
        if (expected != actual) {
            throw new IllegalStateException(
                    what + " is another: value=" + actual + ", expected=" + expected);
        }
    }
}
