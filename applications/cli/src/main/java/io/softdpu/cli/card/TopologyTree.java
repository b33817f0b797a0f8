package io.softdpu.cli.card;

import io.softdpu.core.Side;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Draws a topology: the sides, their devices, and below each port of the DPU its representors. */
public final class TopologyTree {
    private static final int COLUMNS = 7;
    private static final String GAP = "  ";
    private static final String BRANCH = "├─ ";
    private static final String LAST = "└─ ";
    private static final String PAST = "│  ";
    private static final String NOTHING = "   ";

    private final List<Row> rows = new ArrayList<>();

    /** Aligned cells, followed by a text that is not aligned. */
    private record Row(List<String> cells, String behind) {}

    private TopologyTree() {}

    /** The lines of the drawing, without blanks at their ends. */
    public static List<String> lines(Topology topology) {
        TopologyTree tree = new TopologyTree();
        List<Side> sides =
                Arrays.stream(Side.values())
                        .filter(side -> !topology.functionsOf(side).isEmpty())
                        .toList();
        for (Side side : sides) {
            tree.side(topology, side);
        }
        List<String> lines = new ArrayList<>();
        lines.add("topology " + topology.name() + ", sha256 " + topology.sha256Hex());
        lines.addAll(tree.align());
        return lines;
    }

    private void side(Topology topology, Side side) {
        List<PciFunction> functions = topology.functionsOf(side);
        boolean anyMade = functions.stream().anyMatch(f -> f.parent() != null);
        rows.add(new Row(List.of(), ""));
        rows.add(
                new Row(
                        List.of(side.id(), "TYPE", "PCI", "IBDEV", "IPV4", "MAC", "RATE"),
                        anyMade ? "REPRESENTOR" : ""));
        for (int i = 0; i < functions.size(); i++) {
            boolean last = i == functions.size() - 1;
            PciFunction function = functions.get(i);
            device(topology, function, last ? LAST : BRANCH);
            representors(topology, function, last ? NOTHING : PAST);
        }
    }

    private void device(Topology topology, PciFunction f, String branch) {
        @Nullable String port = f.parent();
        String seenAs =
                port == null
                        ? ""
                        : f.representor()
                                + " on "
                                + port
                                + " "
                                + topology.parentOf(f).orElseThrow().pciAddress();
        rows.add(
                new Row(
                        List.of(
                                branch + f.interfaceName(),
                                f.type().name(),
                                f.pciAddress().toString(),
                                f.ibdevName(),
                                f.ipv4().getHostAddress(),
                                f.macAddress(),
                                rate(f.activeRateBitsPerSecond())),
                        seenAs + limits(f)));
    }

    private void representors(Topology topology, PciFunction port, String past) {
        List<PciFunction> made = topology.childrenOf(port);
        for (int i = 0; i < made.size(); i++) {
            PciFunction f = made.get(i);
            rows.add(
                    new Row(
                            List.of(
                                    past + (i == made.size() - 1 ? LAST : BRANCH) + f.representor(),
                                    "rep",
                                    f.pciAddress().toString(),
                                    "→ " + f.key()),
                            ""));
        }
    }

    private static String limits(PciFunction f) {
        return f.profile().isEmpty()
                ? ""
                : f.profile().entrySet().stream()
                        .map(limit -> limit.getKey() + "=" + limit.getValue())
                        .collect(Collectors.joining(", ", " [", "]"));
    }

    private static String rate(long bitsPerSecond) {
        return BigDecimal.valueOf(bitsPerSecond, 9).stripTrailingZeros().toPlainString()
                + " Gbit/s";
    }

    private List<String> align() {
        int[] widths = new int[COLUMNS];
        for (Row row : rows) {
            // The target of a representor may extend over the columns after it.
            int aligned = row.cells.size() == COLUMNS ? COLUMNS : Math.max(0, row.cells.size() - 1);
            for (int column = 0; column < aligned; column++) {
                widths[column] = Math.max(widths[column], row.cells.get(column).length());
            }
        }
        return rows.stream().map(row -> line(row, widths)).toList();
    }

    private static String line(Row row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < row.cells.size(); column++) {
            String cell = row.cells.get(column);
            line.append(cell);
            line.append(" ".repeat(Math.max(0, widths[column] - cell.length())));
            line.append(GAP);
        }
        return line.append(row.behind).toString().stripTrailing();
    }
}
