package io.softdpu.cli;

import io.softdpu.core.DpuException;
import java.util.Map;
import java.util.Optional;

/** Next steps after the usual first mistakes, by the reason at the beginning of an error. */
final class NextStep {
    private static final String ANOTHER_FOLDER =
            "see `softdpu doctor`, or set SOFTDPU_FABRIC to a new folder";

    private static final String TOPOLOGY =
            "`softdpu topology --topology default --json` prints a topology to start from";

    private static final Map<String, String> BY_REASON =
            Map.ofEntries(
                    Map.entry("no such device", "see `softdpu devices` for the devices"),
                    Map.entry(
                            "no such representor",
                            "see `softdpu topology` for the representors of each port"),
                    Map.entry("no such topology", TOPOLOGY),
                    Map.entry("topology refused", TOPOLOGY),
                    Map.entry(
                            "no such processor",
                            "take one of these, or --cpu any, which leaves the choice to the"
                                    + " scheduler"),
                    Map.entry(
                            "port is taken",
                            "take another port, or `--listen-port 0` for a free one, which is"
                                    + " printed"),
                    Map.entry(
                            "fabric is in use with another topology",
                            "take the topology of its programs, end them, or set SOFTDPU_FABRIC to"
                                    + " another folder"),
                    Map.entry("fabric folder is not private", ANOTHER_FOLDER),
                    Map.entry("fabric folder is a symbolic link", ANOTHER_FOLDER),
                    Map.entry("fabric folder cannot be created", ANOTHER_FOLDER),
                    Map.entry("fabric folder not usable", ANOTHER_FOLDER),
                    Map.entry(
                            "fabric folder holds a file that is not the fabric's", ANOTHER_FOLDER));

    private NextStep() {}

    /** The step after a failure; empty if its error says all. */
    static Optional<String> after(Exception failure) {
        if (!(failure instanceof DpuException)) {
            return Optional.empty();
        }
        String reason = String.valueOf(failure.getMessage()).split(": ", 2)[0];
        return Optional.ofNullable(BY_REASON.get(reason));
    }
}
