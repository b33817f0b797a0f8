package io.softdpu.cli.doctor;

import io.softdpu.cli.card.CardDevices;
import io.softdpu.core.Side;
import io.softdpu.core.device.Topology;
import io.softdpu.fabric.folder.FolderReport;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Check of the card: opens the machines of all sides as {@code softdpu devices} does. */
final class CardCheck {
    private static final String CHECK = "devices";

    private static final String REMEDY =
            "mend what the error names: every command fails with it, as `softdpu devices` does";

    private CardCheck() {}

    /**
     * Opens the machines in the fabric folder if that leaves the folder as it is. One that does not
     * exist would be made, and files of dead processes in it would be removed: then they are opened
     * in a folder of their own, where the fabric folder would be made, or in the folder for
     * temporary files.
     *
     * @param removed whether the leftovers of the report were removed
     */
    static Finding devices(FolderReport fabric, boolean removed, Path temporary) {
        if (fabric.problem() != null) {
            return Finding.error(
                    CHECK, "opened=no, reason=fabric folder", "mend the fabric folder first");
        }
        return devices(
                Topology::fromEnvironment,
                fabric.isUnchangedByJoining(removed) ? null : placeOf(fabric, temporary));
    }

    private static Path placeOf(FolderReport fabric, Path temporary) {
        Path above = fabric.path();
        if (fabric.exists()) {
            return temporary;
        }
        do {
            above = above.getParent();
        } while (above != null && !Files.isDirectory(above));
        return above == null ? temporary : above;
    }

    /**
     * Opens the machines.
     *
     * @param place where a fabric folder is made for it; null to take that of the environment
     */
    static Finding devices(Supplier<Topology> card, @Nullable Path place) {
        try {
            Topology topology = card.get();
            int count = place == null ? count(topology, null) : countIn(topology, place);
            return Finding.ok(CHECK, "topology=" + topology.name() + ", devices=" + count);
        } catch (IOException | RuntimeException e) {
            return Finding.error(CHECK, "reason=" + Reason.of(e), REMEDY);
        } catch (Error e) { // of a class that cannot be loaded or initialized, or of a thread
            Throwable root = e;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            return Finding.error(CHECK, "reason=" + Reason.of(root), REMEDY);
        }
    }

    private static int countIn(Topology topology, Path place) throws IOException {
        try (TrialFolder trial = TrialFolder.in(place)) {
            return count(topology, trial.fabric());
        }
    }

    private static int count(Topology topology, @Nullable Path fabric) {
        return CardDevices.list(topology, fabric, Side.values()).size();
    }
}
