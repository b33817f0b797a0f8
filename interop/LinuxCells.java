import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.topology.json.TopologyJson;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Connections by parameters to verbs-peer.c, in the guest: {@code LinuxCells TOPOLOGY DEVICE PORT
 * ADDRESS4 GIDINDEX4 ADDRESS6 GIDINDEX6 operations|errors|large|short}. Each cell has a connection
 * of its own. Prints a line per cell, as {@code linux-roce.sh} does; exit code 1 if one has FAILED.
 */
public final class LinuxCells {
    private static final int SMALL =
            1 << 20; // of the memory of either side: sources, then destinations
    private static final int LARGE = 64 << 20;

    // Of enum ibv_wc_status.
    private static final int SUCCESS = 0;
    private static final int LOCAL_OPERATION = 2; // of a receive that was too short
    private static final int REMOTE_ACCESS = 10;
    private static final int REMOTE_OPERATION = 11;
    private static final int RNR_RETRIES_EXCEEDED = 13;

    /** Steps of a cell; throws if it finds something else than it should. */
    private interface Cell {
        void run(LinuxEnds ends) throws IOException;
    }

    private final Device device;
    private final LinuxPeer peer;
    private int cells;
    private int failures;

    private LinuxCells(Device device, LinuxPeer peer) {
        this.device = device;
        this.peer = peer;
    }

    /** Runs the cells of one kind. */
    public static void main(String[] args) throws IOException {
        List<LinuxEnds.Family> families =
                List.of(
                        new LinuxEnds.Family(
                                4, InetAddress.ofLiteral(args[3]), Integer.parseInt(args[4])),
                        new LinuxEnds.Family(
                                6, InetAddress.ofLiteral(args[5]), Integer.parseInt(args[6])));
        int failures;
        try (LinuxPeer peer =
                        new LinuxPeer(families.getFirst().guest(), Integer.parseInt(args[2]));
                Machine machine =
                        Machine.builder(Side.TARGET)
                                .topology(TopologyJson.read(Path.of(args[0])))
                                .open();
                Device device = machine.findDevice(args[1]).open()) {
            LinuxCells cells = new LinuxCells(device, peer);
            for (LinuxEnds.Family family : families) {
                cells.runAll(args[7], family);
            }
            failures = cells.failures;
        }
        System.exit(failures == 0 ? 0 : 1);
    }

    private void runAll(String kind, LinuxEnds.Family family) {
        switch (kind) {
            case "operations" -> {
                operations(family, 1024, 0, 61, 10_000);
                operations(family, 4096, 0, 61, 10_000);
                pipelines(family);
            }
            case "short" -> operations(family, 1024, 61);
            case "errors" -> errors(family);
            case "large" -> {
                long size = Long.getLong("size", LARGE);
                for (Verb each : List.of(Verb.WRITE, Verb.READ, Verb.SEND)) {
                    operation(family, 4096, each, (int) size);
                }
            }
            default -> throw new IllegalArgumentException("no kind: " + kind);
        }
    }

    private void operations(LinuxEnds.Family family, int mtu, int... sizes) {
        for (Verb each : Verb.values()) {
            if (each.isAtomic()) {
                operation(family, mtu, each, Long.BYTES);
            } else {
                for (int size : sizes) {
                    operation(family, mtu, each, size);
                }
            }
        }
    }

    private void operation(LinuxEnds.Family family, int mtu, Verb operation, int size) {
        String text = operation + ", sizeBytes=" + size;
        int memory = 2 * Math.max(size, SMALL / 2);
        cell(text + ", we request", family, mtu, memory, ends -> requested(ends, operation, size));
        cell(text + ", Linux requests", family, mtu, memory, ends -> served(ends, operation, size));
    }

    /** Our request, of the peer's memory or for its receive. */
    private static void requested(LinuxEnds ends, Verb operation, int size) throws IOException {
        ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
        LinuxPeer peer = ends.peer;
        long half = ends.half();
        if (operation.isAtomic()) {
            peer.ask("put " + half + " 41");
            ends.submit(operation, 8);
            ends.awaitTask(Status.SUCCESS);
            LinuxPeer.equal("value before", 41, ends.word(half));
            LinuxPeer.equal(
                    "value", operation == Verb.CMP_SWAP ? 42 : 46, peer.number("get " + half));
            return;
        }
        if (operation.needsReceive()) {
            peer.ask("receive " + half + " " + size);
        }
        if (operation == Verb.READ) {
            peer.ask("fill 0 " + size + " " + ends.seed);
        } else {
            ends.fill(0, size);
        }
        ends.submit(operation, size);
        ends.awaitTask(Status.SUCCESS);
        if (operation == Verb.READ) {
            LinuxPeer.equal("byte that differs", -1, ends.compare(half, size));
            return;
        }
        if (operation.needsReceive()) {
            peer.expectCompletion(
                    SUCCESS, size, operation.hasImmediate() ? LinuxEnds.IMMEDIATE : 0);
        }
        LinuxPeer.equal(
                "byte that differs",
                -1,
                peer.number("compare " + half + " " + size + " " + ends.seed));
    }

    /** A request of the peer, of our memory or for our receive. */
    private static void served(LinuxEnds ends, Verb operation, int size) throws IOException {
        ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
        LinuxPeer peer = ends.peer;
        long half = ends.half();
        if (operation.isAtomic()) {
            ends.setWord(half, 41);
            ends.post(operation, size, 0);
            peer.expectCompletion(SUCCESS);
            LinuxPeer.equal("value before", 41, peer.number("get 0"));
            LinuxPeer.equal("value", operation == Verb.CMP_SWAP ? 42 : 46, ends.word(half));
            return;
        }
        if (operation.needsReceive()) {
            ends.receive(size);
        }
        if (operation == Verb.READ) {
            ends.fill(half, size);
        } else {
            peer.ask("fill 0 " + size + " " + ends.seed);
        }
        ends.post(operation, size, 0);
        peer.expectCompletion(SUCCESS);
        if (operation == Verb.READ) {
            LinuxPeer.equal(
                    "byte that differs", -1, peer.number("compare 0 " + size + " " + ends.seed));
            return;
        }
        if (operation.needsReceive()) {
            ends.awaitTask(Status.SUCCESS);
            LinuxPeer.equal("length", size, ends.receivedBytes);
            LinuxPeer.equal(
                    "immediate",
                    operation.hasImmediate() ? LinuxEnds.IMMEDIATE : 0,
                    ends.receivedImmediate);
        }
        LinuxPeer.equal("byte that differs", -1, ends.compare(half, size));
    }

    /** Requests that are in flight together. */
    private void pipelines(LinuxEnds.Family family) {
        int size = 5000;
        cell(
                "16 reads in flight, we request",
                family,
                1024,
                SMALL,
                ends -> {
                    ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
                    peer.ask("fill 0 " + size + " " + ends.seed);
                    for (int i = 0; i < 16; i++) {
                        ends.submit(Verb.READ, size);
                    }
                    for (int i = 0; i < 16; i++) {
                        ends.awaitTask(Status.SUCCESS);
                    }
                    LinuxPeer.equal("byte that differs", -1, ends.compare(ends.half(), size));
                });
        cell(
                "16 reads in flight, Linux requests",
                family,
                1024,
                SMALL,
                ends -> {
                    ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
                    ends.fill(ends.half(), size);
                    for (int i = 0; i < 16; i++) {
                        ends.post(Verb.READ, size, 0);
                    }
                    for (int i = 0; i < 16; i++) {
                        peer.expectCompletion(SUCCESS);
                    }
                    LinuxPeer.equal(
                            "byte that differs",
                            -1,
                            peer.number("compare 0 " + size + " " + ends.seed));
                });
        List<Verb> mixed =
                List.of(
                        Verb.READ,
                        Verb.WRITE,
                        Verb.FETCH_ADD,
                        Verb.WRITE,
                        Verb.READ,
                        Verb.FETCH_ADD,
                        Verb.WRITE);
        cell(
                "writes between reads and atomics, we request",
                family,
                1024,
                SMALL,
                ends -> {
                    ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
                    for (Verb each : mixed) {
                        ends.submit(each, each.isAtomic() ? 8 : size);
                    }
                    for (Verb _ : mixed) {
                        ends.awaitTask(Status.SUCCESS);
                    }
                });
        cell(
                "writes between reads and atomics, Linux requests",
                family,
                1024,
                SMALL,
                ends -> {
                    ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
                    for (Verb each : mixed) {
                        ends.post(each, each.isAtomic() ? 8 : size, 0);
                    }
                    for (Verb _ : mixed) {
                        peer.expectCompletion(SUCCESS);
                    }
                });
    }

    private void errors(LinuxEnds.Family family) {
        int size = 5000;
        for (Verb each : List.of(Verb.WRITE, Verb.READ, Verb.FETCH_ADD)) {
            int length = each.isAtomic() ? 8 : size;
            cell(
                    each + " with a wrong key, we request",
                    family,
                    1024,
                    SMALL,
                    ends -> {
                        ends.keyError = 0x5500;
                        ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
                        ends.submit(each, length);
                        ends.awaitTask(Status.NOT_PERMITTED);
                    });
            cell(
                    each + " with a wrong key, Linux requests",
                    family,
                    1024,
                    SMALL,
                    ends -> {
                        ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
                        ends.post(each, length, 0x5500);
                        peer.expectCompletion(REMOTE_ACCESS);
                        ends.awaitEnd(Status.NOT_PERMITTED);
                    });
            int others = each == Verb.READ ? 2 : 4; // without any, memory has no key
            cell(
                    each + " without the memory's right, we request",
                    family,
                    1024,
                    SMALL,
                    ends -> {
                        ends.memoryRights = others;
                        ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
                        ends.submit(each, length);
                        ends.awaitTask(Status.NOT_PERMITTED);
                    });
            // Linux calls that an invalid request.
            cell(
                    each + " without the queue pair's right, we request",
                    family,
                    1024,
                    SMALL,
                    ends -> {
                        ends.connect(others, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
                        ends.submit(each, length);
                        ends.awaitTask(Status.UNEXPECTED);
                    });
            cell(
                    each + " without the right, Linux requests",
                    family,
                    1024,
                    SMALL,
                    ends -> {
                        Permissions other =
                                Permissions.of(
                                        each == Verb.READ
                                                ? AccessFlag.RDMA_WRITE
                                                : AccessFlag.RDMA_READ);
                        ends.connect(LinuxEnds.ALL_RIGHTS, other, LinuxEnds.RNR_UNLIMITED);
                        ends.post(each, length, 0);
                        peer.expectCompletion(REMOTE_ACCESS);
                        ends.awaitEnd(Status.NOT_PERMITTED);
                    });
        }
        cell(
                "SEND before its receive, we request",
                family,
                1024,
                SMALL,
                ends -> {
                    ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
                    ends.fill(0, size);
                    ends.submit(Verb.SEND, size);
                    ends.progressFor(Duration.ofMillis(300));
                    peer.ask("receive " + ends.half() + " " + size);
                    ends.awaitTask(Status.SUCCESS);
                    peer.expectCompletion(SUCCESS, size, 0);
                    LinuxPeer.equal(
                            "byte that differs",
                            -1,
                            peer.number("compare " + ends.half() + " " + size + " " + ends.seed));
                });
        cell(
                "SEND before its receive, Linux requests",
                family,
                1024,
                SMALL,
                ends -> {
                    ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
                    peer.ask("fill 0 " + size + " " + ends.seed);
                    ends.post(Verb.SEND, size, 0);
                    ends.progressFor(Duration.ofMillis(300));
                    ends.receive(size);
                    peer.expectCompletion(SUCCESS);
                    ends.awaitTask(Status.SUCCESS);
                    LinuxPeer.equal("byte that differs", -1, ends.compare(ends.half(), size));
                });
        cell(
                "SEND without a receive, we request",
                family,
                1024,
                SMALL,
                ends -> {
                    ends.rnrRetries = 1;
                    ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
                    ends.submit(Verb.SEND, size);
                    ends.awaitTask(Status.IO_FAILED);
                });
        cell(
                "SEND without a receive, Linux requests",
                family,
                1024,
                SMALL,
                ends -> {
                    ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, 1);
                    ends.post(Verb.SEND, size, 0);
                    peer.expectCompletion(RNR_RETRIES_EXCEEDED);
                });
        cell(
                "SEND longer than its receive, we request",
                family,
                1024,
                SMALL,
                ends -> {
                    ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
                    peer.ask("receive " + ends.half() + " 100");
                    ends.submit(Verb.SEND, size);
                    ends.awaitTask(Status.IO_FAILED);
                    peer.expectCompletion(LOCAL_OPERATION);
                });
        cell(
                "SEND longer than its receive, Linux requests",
                family,
                1024,
                SMALL,
                ends -> {
                    ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
                    ends.receive(100);
                    ends.post(Verb.SEND, size, 0);
                    peer.expectCompletion(REMOTE_OPERATION);
                    ends.awaitTask(Status.TOO_BIG);
                });
    }

    private void cell(String what, LinuxEnds.Family family, int mtu, int memoryBytes, Cell cell) {
        String name = what + ", IPv" + family.version() + ", mtu=" + mtu;
        try (LinuxEnds ends = new LinuxEnds(device, peer, family, mtu, memoryBytes, ++cells)) {
            cell.run(ends);
            System.out.println("passed   " + name);
        } catch (IOException | RuntimeException e) {
            failures++;
            System.out.println("FAILED   " + name + ": reason=" + e.getMessage());
        }
    }
}
