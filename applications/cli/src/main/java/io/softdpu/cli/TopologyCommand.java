package io.softdpu.cli;

import io.softdpu.cli.card.TopologyTree;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.topology.json.TopologyJson;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code softdpu topology}: the card, drawn. */
@Command(
        name = "topology",
        description = {
            "Draws the card: the devices of each side, and the representors that the DPU's ports"
                    + " have for what they made.",
            "It is drawn as the file has it, without what programs have plugged in since: caps and"
                    + " devices see that.",
            "As JSON it is a file for --topology and SOFTDPU_TOPOLOGY.",
            "A limit of a library that softdpu does not have is refused here; other commands ignore"
                    + " it, since a program with that library may share the card with them."
        })
final class TopologyCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    @Option(
            names = "--file",
            paramLabel = "FILE",
            description = {
                "The topology to draw: a JSON file, or default or storage-guide, which come along"
                        + " (default: what SOFTDPU_TOPOLOGY names, else default)."
            })
    private @Nullable String file;

    @Option(names = "--json", description = "Print it as a topology file.")
    private boolean json;

    @Override
    public Integer call() {
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        Topology topology = file == null ? TopologyJson.fromEnvironment() : TopologyJson.load(file);
        requireKnownLibraries(topology);
        if (json) {
            out.print(TopologyJson.toJson(topology));
        } else {
            TopologyTree.lines(topology).forEach(out::println);
        }
        out.flush();
        return ExitCode.OK.code();
    }

    /**
     * Refuses limits of unknown libraries, since this program has all; the reader checks the
     * others.
     */
    private static void requireKnownLibraries(Topology topology) {
        for (PciFunction function : topology.functions()) {
            for (String limit : function.profile().keySet()) {
                String library = DeviceLimit.libraryOf(limit);
                if (!Capabilities.libraries().contains(library)) {
                    throw new DpuException(
                            Status.BAD_CONFIG,
                            "topology limits an unknown library: topology=%s, function=%s, limit=%s, library=%s, available=%s"
                                    .formatted(
                                            topology.name(),
                                            function.key(),
                                            limit,
                                            library,
                                            Capabilities.libraries()));
                }
            }
        }
    }
}
