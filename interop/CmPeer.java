import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;

/** A process of the program cm-peer.c in the guest. While it waits it drives our ends. */
final class CmPeer implements AutoCloseable {
    // Of enum ibv_wc_status.
    static final int SUCCESS = 0;
    static final int RETRIES_EXCEEDED = 12;

    private static final int SEND = 0;

    /** An event of rdma_cm: its name, the connection, its status, and private data in full length. */
    record Event(String name, int slot, int status, byte[] data) {}

    /** A message that has come. */
    record Message(int slot, String text) {}

    private final LinuxPeer peer;
    private final Runnable ours;

    /** Begins a process: address and port of the program, and what drives our ends. */
    CmPeer(InetAddress guest, int port, Runnable ours) throws IOException {
        peer = new LinuxPeer(guest, port);
        this.ours = ours;
    }

    int listen(InetAddress address, int port) throws IOException {
        return slot("listen " + address.getHostAddress() + " " + port);
    }

    int connect(InetAddress address, int port, String data) throws IOException {
        return slot("connect " + address.getHostAddress() + " " + port + " " + hex(data));
    }

    private int slot(String line) throws IOException {
        return Integer.parseInt(peer.ask(line)[0]);
    }

    void accept(int slot, String data) throws IOException {
        peer.ask("accept " + slot + " " + hex(data));
    }

    void reject(int slot, String data) throws IOException {
        peer.ask("reject " + slot + " " + hex(data));
    }

    void disconnect(int slot) throws IOException {
        peer.ask("disconnect " + slot);
    }

    void destroy(int slot) throws IOException {
        peer.ask("destroy " + slot);
    }

    /** Posts a message; its completion follows. */
    void post(int slot, String text) throws IOException {
        peer.ask("send " + slot + " " + hex(text));
    }

    /** Sends a message, and waits until it has ended with a status. */
    void send(int slot, String text, int status) throws IOException {
        post(slot, text);
        expectEnd(slot, status);
    }

    /** Waits until a message that was sent has ended with a status. */
    void expectEnd(int slot, int status) throws IOException {
        String[] words = await("completion", Duration.ofSeconds(40));
        LinuxPeer.equal("completion of Linux", SEND, Long.parseLong(words[2]));
        LinuxPeer.equal("slot of Linux", slot, Long.parseLong(words[0]));
        LinuxPeer.equal("status of Linux", status, Long.parseLong(words[1]));
    }

    /** The next message; sends that have completed are passed over. */
    Message message() throws IOException {
        while (true) {
            String[] words = await("completion", Duration.ofSeconds(40));
            LinuxPeer.equal("status of Linux", SUCCESS, Long.parseLong(words[1]));
            if (Integer.parseInt(words[2]) != SEND) {
                return new Message(Integer.parseInt(words[0]), text(bytes(words[3])));
            }
        }
    }

    /** The next event. */
    Event event(Duration limit) throws IOException {
        String[] words = await("event", limit);
        return new Event(
                words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2]), bytes(words[3]));
    }

    /** The next event, which has to be this one. */
    Event expect(String name) throws IOException {
        Event event = event(Duration.ofSeconds(40));
        if (!event.name().equals(name)) {
            throw new IOException(
                    "event of Linux is another: event="
                            + event.name()
                            + ", status="
                            + event.status()
                            + ", expected="
                            + name);
        }
        return event;
    }

    /** Whether there is no event within a time. */
    boolean isQuiet(Duration time) throws IOException {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            if (!peer.ask("event 2")[0].equals("none")) {
                return false;
            }
            ours.run();
        }
        return true;
    }

    private String[] await(String what, Duration limit) throws IOException {
        long end = System.nanoTime() + limit.toNanos();
        while (System.nanoTime() - end < 0) {
            ours.run();
            String[] words = peer.ask(what + " 2");
            if (!words[0].equals("none")) {
                return words;
            }
        }
        throw new DpuException(Status.TIME_OUT, "Linux has no " + what + ": limit=" + limit);
    }

    /** Begins to accept connections in a row, whose message each it sends back. */
    void beginToServe(int count) throws IOException {
        peer.tell("serve " + count);
    }

    /** Begins to connect in a row, with a message each that is sent back. */
    void beginToCall(int count, InetAddress address, int listener) throws IOException {
        peer.tell("call " + count + " " + address.getHostAddress() + " " + listener);
    }

    /** Waits until it has done what was begun. */
    void awaitRow() throws IOException {
        peer.answer("serve or call");
    }

    /** Ends the process by SIGKILL. */
    void kill() throws IOException {
        try {
            peer.ask("die");
        } catch (IOException e) {
            return; // as it should: no answer
        }
        throw new IOException("Linux has answered a process that is killed");
    }

    /** Ends the program. */
    void quit() {
        try {
            peer.ask("quit");
        } catch (IOException e) {
            return; // no answer is its answer
        }
    }

    /** Refuses data that do not begin with a text, followed by zero bytes up to a length. */
    static void requirePadded(String what, String text, int length, byte[] data) throws IOException {
        byte[] expected = Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), length);
        if (!Arrays.equals(expected, data)) {
            throw new IOException(
                    what
                            + " is another: lengthBytes="
                            + data.length
                            + ", data="
                            + HexFormat.of().formatHex(data)
                            + ", expected="
                            + text
                            + " and zero bytes up to "
                            + length);
        }
    }

    private static String hex(String data) {
        return data.isEmpty()
                ? "-"
                : HexFormat.of().formatHex(data.getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] bytes(String hex) {
        return hex.equals("-") ? new byte[0] : HexFormat.of().parseHex(hex);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    @Override
    public void close() throws IOException {
        peer.close();
    }
}
