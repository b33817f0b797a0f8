package io.softdpu.cli.card;

import io.softdpu.core.DpuException;
import io.softdpu.core.device.Topology;
import io.softdpu.topology.json.TopologyJson;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --topology} of the commands that stand at a card. */
public final class TopologyOption {
    @Option(
            names = "--topology",
            paramLabel = "FILE",
            description = {
                "The card: a JSON file, or default or storage-guide, which come along (default:"
                        + " what SOFTDPU_TOPOLOGY names, else default)."
            })
    private @Nullable String named;

    /** For picocli. */
    public TopologyOption() {}

    /**
     * The topology that the user has chosen.
     *
     * @throws DpuException NOT_FOUND, IO_FAILED or BAD_CONFIG if it cannot be had
     */
    public Topology load() {
        return named == null ? TopologyJson.fromEnvironment() : TopologyJson.load(named);
    }

    /** What makes a child of this process choose the same, wherever it stands; often nothing. */
    public List<String> arguments() {
        if (named == null) {
            return List.of(); // it inherits the environment
        }
        String absolute =
                TopologyJson.SHIPPED.contains(named)
                        ? named
                        : Path.of(named).toAbsolutePath().toString();
        return List.of("--topology", absolute);
    }
}
