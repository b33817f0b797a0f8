package io.softdpu.cli;

import io.softdpu.cli.card.TopologyOption;
import io.softdpu.cli.card.TopologyTree;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.Suggestions;
import io.softdpu.linux.text.Text;
import io.softdpu.topology.json.TopologyJson;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code softdpu topology}: draws the card as a tree, or prints its topology file. */
@Command(
        name = "topology",
        description = {
            "Draws the card as a tree.",
            "Shows the devices of each side, and the representors of their functions at the DPU's"
                    + " ports.",
            "Shows the topology file itself; functions that programs have plugged in are shown by"
                    + " devices and caps.",
            "The JSON output is a file for --topology and SOFTDPU_TOPOLOGY.",
            "Refuses limits of libraries that softdpu does not have. Other commands ignore such"
                    + " limits, since programs with these libraries may share the card."
        },
        footerHeading = Examples.HEADING,
        footer = {"  softdpu topology", "  softdpu topology --topology storage-guide --json"})
final class TopologyCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    @Mixin private final TopologyOption card = new TopologyOption();

    /** A topology file. */
    @Mixin private final JsonOption json = new JsonOption();

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        PrintWriter out = command.getOut();
        json.check(command);
        Topology topology = card.load();
        requireKnownLibraries(topology);
        json.writeText(TopologyJson.toJson(topology), out);
        if (!json.isStandardOutput()) {
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
                            Text.format(
                                    "topology limits an unknown library: topology=%s, function=%s,"
                                            + " limit=%s, library=%s, available=%s%s",
                                    topology.name(),
                                    function.key(),
                                    limit,
                                    library,
                                    Capabilities.libraries(),
                                    Suggestions.question(
                                            Suggestions.of(library, Capabilities.libraries()))));
                }
            }
        }
    }
}
