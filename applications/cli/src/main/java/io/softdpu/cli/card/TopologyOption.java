package io.softdpu.cli.card;

import io.softdpu.core.DpuException;
import io.softdpu.core.device.Topology;
import io.softdpu.topology.json.TopologyJson;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --topology} of the commands that use a card. */
public final class TopologyOption {
    @Option(
            names = "--topology",
            paramLabel = "FILE",
            description = {
                "The card: a JSON file, or one of the built-in default and storage-guide (default:"
                        + " the one that SOFTDPU_TOPOLOGY names, else default)."
            })
    private @Nullable Path named; // a path, for completion

    /** For picocli. */
    public TopologyOption() {}

    /**
     * The topology that the user has chosen.
     *
     * @throws DpuException NOT_FOUND, IO_FAILED or BAD_CONFIG if it cannot be read
     */
    public Topology load() {
        return named == null ? Topology.fromEnvironment() : TopologyJson.load(named.toString());
    }

    /** Arguments by which a child process uses the same topology; empty if it inherits it. */
    public List<String> arguments() {
        if (named == null) {
            return List.of(); // the child inherits the environment
        }
        boolean isShipped = TopologyJson.SHIPPED.contains(named.toString());
        return List.of("--topology", (isShipped ? named : named.toAbsolutePath()).toString());
    }
}
