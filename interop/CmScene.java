import io.softdpu.core.Status;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;

/** An end of ours and a process of Linux, one of which connects to the other. */
final class CmScene implements AutoCloseable {
    /** Both ends of a connection. */
    record Pair(RdmaConnection ours, int slot) {}

    private final Path topology;
    private final String device;
    private final InetAddress guest;
    private final InetAddress control;
    private final int port;
    private final boolean weConnect;
    private final int connections;
    private CmEnd ours;
    private CmPeer linux;
    private byte[] rejected; // data of the last request that Linux has rejected

    CmScene(
            Path topology,
            String device,
            InetAddress guest,
            InetAddress control,
            int port,
            boolean weConnect,
            int connections)
            throws IOException {
        this.topology = topology;
        this.device = device;
        this.guest = guest;
        this.control = control;
        this.port = port;
        this.weConnect = weConnect;
        this.connections = connections;
        openOurs();
        linux = new CmPeer(control, port, this::drive);
    }

    private void drive() {
        if (ours != null) {
            ours.drive();
        }
    }

    boolean weConnect() {
        return weConnect;
    }

    InetAddress guest() {
        return guest;
    }

    CmEnd ours() {
        return ours;
    }

    CmPeer linux() {
        return linux;
    }

    void openOurs() throws IOException {
        ours = new CmEnd(topology, device, guest instanceof Inet4Address ? 0 : 1, connections);
    }

    void closeOurs() {
        ours.close();
        ours = null;
    }

    /** A new process of Linux, which listens where the old one did. */
    void replaceLinux() throws IOException {
        linux.close();
        linux = new CmPeer(control, port, this::drive);
        if (weConnect) {
            listen();
        }
    }

    void listen() throws IOException {
        if (weConnect) {
            linux.listen(guest, CmCells.PORT);
        } else {
            ours.rdma().listen(CmCells.PORT);
        }
    }

    Pair connect(String text) throws IOException {
        return connect(text, Duration.ZERO);
    }

    /** Connects, with data of both sides, and a pause of the listener before it accepts. */
    Pair connect(String text, Duration pause) throws IOException {
        String asked = text + " asks";
        String answered = text + " accepted";
        if (weConnect) {
            RdmaConnection here = ours.connect(guest, CmCells.PORT, asked);
            CmPeer.Event request = request(asked);
            requireQuiet(pause);
            linux.accept(request.slot(), answered);
            ours.awaitState(here, RdmaConnection.State.CONNECTED);
            CmPeer.requirePadded("data of the acceptance", answered, Rdma.MAX_ACCEPT_DATA_BYTES, here.peerPrivateData());
            LinuxPeer.equal("slot of Linux", request.slot(), linux.expect("ESTABLISHED").slot());
            return new Pair(here, request.slot());
        }
        int slot = linux.connect(ours.address(), CmCells.PORT, asked);
        RdmaConnectionRequest request = ours.request();
        CmPeer.requirePadded("data of the request", asked, Rdma.MAX_CONNECT_DATA_BYTES, request.privateData());
        requireQuiet(pause);
        RdmaConnection here = request.accept(CmEnd.bytes(answered));
        CmPeer.Event established = linux.expect("ESTABLISHED");
        CmPeer.requirePadded("data of the acceptance", answered, Rdma.MAX_ACCEPT_DATA_BYTES, established.data());
        LinuxPeer.equal("slot of Linux", slot, established.slot());
        ours.awaitState(here, RdmaConnection.State.CONNECTED);
        return new Pair(here, slot);
    }

    /**
     * The request with these data. Linux forgets a request that it has rejected, and shows a repeat
     * of it that was under way as another one.
     */
    CmPeer.Event request(String asked) throws IOException {
        CmPeer.Event event = linux.expect("CONNECT_REQUEST");
        while (Arrays.equals(rejected, event.data())) {
            linux.reject(event.slot(), "again");
            event = linux.expect("CONNECT_REQUEST");
        }
        CmPeer.requirePadded("data of the request", asked, Rdma.MAX_CONNECT_DATA_BYTES, event.data());
        return event;
    }

    /** Rejects a request at Linux. */
    void reject(CmPeer.Event request, String data) throws IOException {
        linux.reject(request.slot(), data);
        rejected = request.data();
    }

    private void requireQuiet(Duration pause) throws IOException {
        if (!linux.isQuiet(pause) || !ours.requests().isEmpty()) {
            throw new IOException("something has come while the listener does not answer");
        }
    }

    /** A message each way. */
    void exchange(Pair pair, String text) throws IOException {
        Status status = ours.send(pair.ours(), "ours: " + text);
        if (status != Status.SUCCESS) {
            throw new IOException("status of the send is another: status=" + status + ", reason=" + pair.ours().failureReason());
        }
        equal(new CmPeer.Message(pair.slot(), "ours: " + text), linux.message());
        linux.send(pair.slot(), "linux: " + text, CmPeer.SUCCESS);
        equal("linux: " + text, ours.message());
    }

    /** An orderly end. */
    void disconnect(Pair pair, boolean weLeave) throws IOException {
        if (weLeave) {
            pair.ours().disconnect();
        } else {
            linux.disconnect(pair.slot());
            ours.awaitState(pair.ours(), RdmaConnection.State.DISCONNECTED);
        }
        LinuxPeer.equal("slot of Linux", pair.slot(), linux.expect("DISCONNECTED").slot());
        if (weLeave) {
            linux.disconnect(pair.slot());
            ours.awaitState(pair.ours(), RdmaConnection.State.DISCONNECTED);
        }
        linux.destroy(pair.slot());
    }

    static void equal(Object expected, Object actual) throws IOException {
        if (!expected.equals(actual)) {
            throw new IOException("message is another: message=" + actual + ", expected=" + expected);
        }
    }

    @Override
    public void close() throws IOException {
        linux.close();
        if (ours != null) {
            ours.close();
        }
    }
}
