import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.topology.json.TopologyJson;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Connections by parameters to verbs-peer.c, in the guest: {@code LinuxCells TOPOLOGY DEVICE PORT
 * ADDRESS4 GIDINDEX4 ADDRESS6 GIDINDEX6 KIND}. Each cell has a connection of its own. Prints a line
 * per cell, as {@code linux-roce.sh} does; exit code 1 if one has FAILED.
 */
public final class LinuxCells {
    static final int SMALL = 1 << 20; // of the memory of either side: sources, then destinations

    /** Of the name of a cell: others are left out. */
    private static final String ONLY = System.getProperty("cell", "");

    /** Steps of a cell; throws if it finds something else than it should. */
    interface Cell {
        void run(LinuxEnds ends) throws IOException;
    }

    private final Device device;
    private final LinuxPeer peer;
    private final LinuxEnds.Family family;
    private int cells;
    private int failures;

    private LinuxCells(Device device, LinuxPeer peer, LinuxEnds.Family family) {
        this.device = device;
        this.peer = peer;
        this.family = family;
    }

    /** Runs the cells of one kind. */
    public static void main(String[] args) throws IOException {
        List<LinuxEnds.Family> families =
                List.of(
                        new LinuxEnds.Family(
                                4, InetAddress.ofLiteral(args[3]), Integer.parseInt(args[4])),
                        new LinuxEnds.Family(
                                6, InetAddress.ofLiteral(args[5]), Integer.parseInt(args[6])));
        String kind = args[7];
        Duration timeout =
                Duration.ofSeconds(kind.equals("large") || kind.equals("impaired") ? 240 : 40);
        int failures = 0;
        try (LinuxPeer peer =
                        new LinuxPeer(
                                families.getFirst().guest(), Integer.parseInt(args[2]), timeout);
                Machine machine =
                        Machine.builder(Side.TARGET)
                                .topology(TopologyJson.read(Path.of(args[0])))
                                .open();
                Device device = machine.findDevice(args[1]).open()) {
            for (LinuxEnds.Family family : families) {
                LinuxCells cells = new LinuxCells(device, peer, family);
                cells.runAll(kind);
                failures += cells.failures;
            }
        }
        System.exit(failures == 0 ? 0 : 1);
    }

    private void runAll(String kind) {
        switch (kind) {
            case "operations" -> {
                OperationCells.runAll(this, 1024, 0, 61, 10_000);
                OperationCells.runAll(this, 4096, 0, 61, 10_000);
            }
            case "short" -> OperationCells.runAll(this, 1024, 10_000);
            case "sequences" -> SequenceCells.runAll(this);
            case "errors" -> ErrorCells.runAll(this);
            case "large" -> {
                OperationCells.runLarge(this, 8 << 20);
                if (family.version() == 4) {
                    OperationCells.runLarge(this, 64 << 20);
                }
            }
            case "impaired" -> OperationCells.runImpaired(this, 4 << 20);
            default -> throw new IllegalArgumentException("no kind: " + kind);
        }
    }

    void cell(String what, int mtu, Cell cell) {
        cell(what, mtu, SMALL, cell);
    }

    void cell(String what, int mtu, int memoryBytes, Cell cell) {
        String name = what + ", IPv" + family.version() + ", mtu=" + mtu;
        if (!name.contains(ONLY)) {
            return;
        }
        try (LinuxEnds ends = new LinuxEnds(device, peer, family, mtu, memoryBytes, ++cells)) {
            cell.run(ends);
            System.out.println("passed   " + name);
        } catch (IOException | RuntimeException e) {
            failures++;
            System.out.println("FAILED   " + name + ": reason=" + e.getMessage());
        }
    }
}
