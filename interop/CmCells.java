import io.softdpu.core.Status;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/**
 * Connections by address to cm-peer.c, in the guest: {@code CmCells TOPOLOGY PORT ADDRESS4 ADDRESS6
 * PID smoke|short|long}, with the devices t0 and t1, and the process id of the guest's emulator.
 * Prints a line per cell, as {@code linux-roce.sh} does; exit code 1 if one has FAILED.
 */
public final class CmCells {
    static final int PORT = 13_579; // of the listener of either side
    private static final String OURS = "t0";
    private static final String OTHER = "t1";

    // Of Linux: reasons of a rejection, as the status of its event.
    private static final int NO_LISTENER = 8;
    private static final int BY_PROGRAM = 28;

    /** Steps of a cell; throws if it finds something else than it should. */
    private interface Cell {
        void run(CmScene scene) throws IOException;
    }

    private final Path topology;
    private final int port;
    private final InetAddress guest;
    private final InetAddress guest6;
    private final long pid;
    private final boolean isSmoke;
    private final boolean isShort;
    private int failures;

    private CmCells(String[] args) {
        topology = Path.of(args[0]);
        port = Integer.parseInt(args[1]);
        guest = InetAddress.ofLiteral(args[2]);
        guest6 = InetAddress.ofLiteral(args[3]);
        pid = Long.parseLong(args[4]);
        isSmoke = args[5].equals("smoke");
        isShort = args[5].equals("short");
    }

    /** Runs all cells, or the one that the property {@code cell} names. */
    public static void main(String[] args) {
        CmCells cells = new CmCells(args);
        cells.runAll();
        try (CmPeer last = new CmPeer(cells.guest, cells.port, () -> {})) {
            last.quit();
        } catch (IOException e) {
            System.err.println("the program of Linux has ended before: " + e.getMessage());
        }
        System.exit(cells.failures == 0 ? 0 : 1);
    }

    private void runAll() {
        for (boolean weConnect : new boolean[] {true, false}) {
            for (int family : new int[] {4, 6}) {
                cell("connect", family, weConnect, 4, CmCells::connect);
                cell("reject", family, weConnect, 4, CmCells::reject);
            }
            if (isSmoke) {
                continue;
            }
            cell("disconnect by us", 4, weConnect, 4, scene -> disconnect(scene, true));
            cell("disconnect by Linux", 4, weConnect, 4, scene -> disconnect(scene, false));
            cell("no listener", 4, weConnect, 4, CmCells::noListener);
            int count = isShort ? 20 : 1000;
            cell("connects in a row, count=" + count, 4, weConnect, 4, scene -> row(scene, count));
            cell("accepted after 10 s", 4, weConnect, 4, CmCells::late);
            cell("program of Linux killed", 4, weConnect, 4, CmCells::peerKilled);
            cell("guest stopped and continued", 4, weConnect, 4, this::guestStopped);
        }
        if (isSmoke) {
            return;
        }
        cell("our process killed, another at its address", 4, false, 4, this::killed);
        int crowd = isShort ? 20 : 100;
        cell("two processes of ours, connects at once of each=" + crowd, 4, true, 4, scene -> two(scene, crowd));
        cell("crowd, ends of Linux and of ours=" + crowd, 4, false, 2 * crowd, scene -> crowd(scene, crowd));
    }

    private void cell(String what, int family, boolean weConnect, int connections, Cell cell) {
        String name = "rdma_cm, " + (weConnect ? "we connect" : "Linux connects") + ": " + what + ", IPv" + family;
        if (!name.contains(System.getProperty("cell", ""))) {
            return;
        }
        long start = System.nanoTime();
        try (CmScene scene = new CmScene(topology, OURS, family == 4 ? guest : guest6, guest, port, weConnect, connections)) {
            cell.run(scene);
            System.out.println("passed   " + name + ", seconds=" + (System.nanoTime() - start) / 1_000_000_000);
        } catch (IOException | RuntimeException e) {
            failures++;
            System.out.println("FAILED   " + name + ": reason=" + e.getMessage() + capture());
            e.printStackTrace();
        }
    }

    private static String capture() {
        String file = System.getenv("SOFTDPU_ROCE_PCAP");
        return file == null ? "" : ", capture=" + file.replace("%p", "" + ProcessHandle.current().pid());
    }

    private static void connect(CmScene scene) throws IOException {
        scene.listen();
        CmScene.Pair pair = scene.connect("data");
        scene.exchange(pair, "message");
        scene.disconnect(pair, true);
    }

    private static void reject(CmScene scene) throws IOException {
        scene.listen();
        if (scene.weConnect()) {
            RdmaConnection here = scene.ours().connect(scene.guest(), PORT, "please");
            scene.reject(scene.request("please"), "not you");
            scene.ours().awaitFailure(here, Status.CONNECTION_ABORTED);
            CmPeer.requirePadded("data of the rejection", "not you", Rdma.MAX_REJECT_DATA_BYTES, here.peerPrivateData());
        } else {
            scene.linux().connect(scene.ours().address(), PORT, "please");
            scene.ours().request().reject(CmEnd.bytes("not you"));
            CmPeer.Event event = scene.linux().expect("REJECTED");
            LinuxPeer.equal("status of Linux", BY_PROGRAM, event.status());
            CmPeer.requirePadded("data of the rejection", "not you", Rdma.MAX_REJECT_DATA_BYTES, event.data());
            scene.linux().destroy(event.slot());
        }
        scene.exchange(scene.connect("after it"), "after it");
    }

    private static void disconnect(CmScene scene, boolean weLeave) throws IOException {
        scene.listen();
        scene.disconnect(scene.connect("bye"), weLeave);
        CmScene.Pair pair = scene.connect("again");
        scene.exchange(pair, "again");
        scene.disconnect(pair, weLeave);
    }

    private static void noListener(CmScene scene) throws IOException {
        if (scene.weConnect()) {
            RdmaConnection here = scene.ours().connect(scene.guest(), PORT, "nobody");
            scene.ours().awaitFailure(here, Status.NOT_FOUND);
        } else {
            scene.ours().rdma().listen(PORT + 1);
            scene.linux().connect(scene.ours().address(), PORT, "nobody");
            LinuxPeer.equal("status of Linux", NO_LISTENER, scene.linux().expect("REJECTED").status());
        }
    }

    private static void row(CmScene scene, int count) throws IOException {
        scene.listen();
        CmEnd ours = scene.ours();
        if (scene.weConnect()) {
            scene.linux().beginToServe(count);
        } else {
            scene.linux().beginToCall(count, ours.address(), PORT);
        }
        for (int i = 0; i < count; i++) {
            String message = "row " + i;
            RdmaConnection here;
            if (scene.weConnect()) {
                here = ours.connect(scene.guest(), PORT, "");
                ours.awaitState(here, RdmaConnection.State.CONNECTED);
                send(ours, here, message);
                CmScene.equal(message, ours.message());
            } else {
                here = ours.request().accept(new byte[0]);
                CmScene.equal(message, ours.message());
                send(ours, here, message);
            }
            here.disconnect();
            ours.awaitState(here, RdmaConnection.State.DISCONNECTED);
        }
        scene.linux().awaitRow();
    }

    private static void send(CmEnd ours, RdmaConnection here, String message) throws IOException {
        Status status = ours.send(here, message);
        if (status != Status.SUCCESS) {
            throw new IOException("a send has failed: status=" + status + ", reason=" + here.failureReason());
        }
    }

    private static void late(CmScene scene) throws IOException {
        scene.listen();
        CmScene.Pair pair = scene.connect("late", Duration.ofSeconds(10));
        scene.exchange(pair, "late");
        scene.disconnect(pair, true);
    }

    /** The kernel disconnects, in order, the connections of a program that is killed. */
    private static void peerKilled(CmScene scene) throws IOException {
        scene.listen();
        CmScene.Pair pair = scene.connect("short life");
        scene.exchange(pair, "short life");
        scene.linux().kill();
        scene.ours().awaitState(pair.ours(), RdmaConnection.State.DISCONNECTED);
        scene.replaceLinux();
        scene.exchange(scene.connect("next life"), "next life");
    }

    private void guestStopped(CmScene scene) throws IOException {
        scene.listen();
        CmScene.Pair pair = scene.connect("asleep");
        scene.exchange(pair, "asleep");
        signal("STOP");
        try {
            Status status = scene.ours().send(pair.ours(), "is anybody there");
            scene.ours().awaitFailure(pair.ours(), Status.CONNECTION_RESET);
            if (status != Status.CONNECTION_RESET) {
                throw new IOException("status of the send is another: status=" + status + ", expected=CONNECTION_RESET");
            }
        } finally {
            signal("CONT");
        }
        scene.replaceLinux();
        scene.exchange(scene.connect("awake"), "awake");
    }

    private void signal(String name) throws IOException {
        try {
            int exit = new ProcessBuilder("kill", "-" + name, "" + pid).inheritIO().start().waitFor();
            LinuxPeer.equal("exit code of kill", 0, exit);
        } catch (InterruptedException e) {
            throw new IOException("interrupted", e);
        }
    }

    /** The scene's own end is of the process that comes after the one that is killed. */
    private void killed(CmScene scene) throws IOException {
        int old;
        InetAddress address = scene.ours().address();
        scene.closeOurs(); // gives the address to the other process
        try (CmChild child = CmChild.start(topology.toString(), OURS, "serve", "" + PORT)) {
            child.await("listening");
            old = scene.linux().connect(address, PORT, "old");
            scene.linux().expect("ESTABLISHED");
            scene.linux().send(old, "before", CmPeer.SUCCESS);
            child.await("message before");
        }
        scene.openOurs();
        scene.listen();
        scene.linux().post(old, "of the old one");
        CmScene.Pair pair = scene.connect("new");
        scene.linux().expectEnd(old, CmPeer.RETRIES_EXCEEDED);
        if (scene.ours().hasMessage()) {
            throw new IOException("a message of the old connection was taken: message=" + scene.ours().message());
        }
        long unknown = scene.ours().rdma().deviceCounters().get("nic_unknown_queue_pair");
        if (unknown == 0) {
            throw new IOException("no packet of the old connection has come: counters=" + scene.ours().rdma().deviceCounters());
        }
        scene.exchange(pair, "new");
    }

    private void two(CmScene scene, int count) throws IOException {
        scene.listen();
        scene.closeOurs();
        CmPeer linux = scene.linux();
        String address = scene.guest().getHostAddress();
        try (CmChild first = CmChild.start(topology.toString(), OURS, "connect", address, "" + PORT, "" + count);
                CmChild second = CmChild.start(topology.toString(), OTHER, "connect", address, "" + PORT, "" + count)) {
            Set<String> names = new HashSet<>();
            for (int established = 0; established < 2 * count; ) {
                CmPeer.Event event = linux.event(CmEnd.LIMIT);
                if (event.name().equals("CONNECT_REQUEST")) {
                    linux.accept(event.slot(), "");
                } else if (event.name().equals("ESTABLISHED")) {
                    established++;
                } else {
                    throw new IOException("event of Linux is another: event=" + event);
                }
            }
            first.await("connected");
            second.await("connected");
            for (int i = 0; i < 2 * count; i++) {
                CmPeer.Message message = linux.message();
                names.add(message.text());
                linux.post(message.slot(), "answer");
            }
            LinuxPeer.equal("number of different messages", 2L * count, names.size());
            first.await("exchanged");
            second.await("exchanged");
            for (int i = 0; i < 2 * count; i++) {
                linux.disconnect(linux.expect("DISCONNECTED").slot());
            }
            first.await("ended");
            second.await("ended");
        }
    }

    /** A third leaves before its answer, a third before its acceptance, a third once connected. */
    private void crowd(CmScene scene, int count) throws IOException {
        scene.listen();
        try (CmCrowd crowd = new CmCrowd(scene, new CmEnd(topology, OTHER, 0, count), count)) {
            crowd.connectAll();
            crowd.leave(0);
            crowd.awaitGone(0);
            crowd.accept(1);
            crowd.leave(1);
            crowd.accept(2);
            crowd.awaitConnected(2);
            crowd.leave(2);
            crowd.awaitAllEnded();
            crowd.connectAll(); // as many as there are places
            for (int step = 0; step < CmCrowd.STEPS; step++) {
                crowd.accept(step);
                crowd.awaitConnected(step);
            }
            scene.linux().connect(scene.ours().address(), PORT, "one more");
            scene.linux().expect("REJECTED");
        }
    }
}
