package io.softdpu.cli;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code softdpu perf}: the group of the measurements; needs one of them. */
@Command(
        name = "perf",
        description =
                "Measures a layer between two processes, or a block device; `softdpu demo` measures"
                        + " the pipeline.",
        subcommands = {
            PerfComchCommand.class,
            PerfSyncEventCommand.class,
            PerfRdmaCommand.class,
            PerfBlockCommand.class,
            PerfRdmaIdleCommand.class
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu perf comch latency",
            "  softdpu perf sync-event latency",
            "  softdpu perf rdma latency --op read",
            "  softdpu perf block rate --volume null:1G --op read"
        })
final class PerfCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @ParentCommand private @Nullable SoftDpu root;

    @Override
    public Integer call() {
        throw Errors.missingSubcommand(Objects.requireNonNull(spec).commandLine());
    }

    /** The arguments after the main class on the command line of this process. */
    List<String> arguments() {
        return Objects.requireNonNull(root).arguments();
    }
}
