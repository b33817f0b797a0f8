package io.softdpu.cli;

import io.softdpu.cli.card.TopologyOption;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.SharedFolder;
import io.softdpu.perf.comch.PerfDpu;
import io.softdpu.perf.pair.TwoProcesses;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The DPU process of {@code softdpu perf comch}, which starts it. It ends when its standard input
 * does, since its parent has ended then.
 */
@Command(name = "comch-dpu", hidden = true, description = "The side of the DPU.")
final class PerfDpuCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @Mixin private final PerfPlanOptions options = new PerfPlanOptions();
    @Mixin private final TopologyOption topology = new TopologyOption();

    @Option(names = "--parent-folder", required = true, paramLabel = "FOLDER")
    private @Nullable Path parentFolder;

    @Override
    public Integer call() {
        Path shared = Objects.requireNonNull(parentFolder);
        try (SharedFolder _ = SharedFolder.join(shared);
                PerfDpu dpu =
                        new PerfDpu(
                                options.plan(Objects.requireNonNull(spec).commandLine()),
                                ComchPair.of(topology.load()),
                                shared.resolve(TwoProcesses.FABRIC))) {
            endWithParent(dpu);
            dpu.run();
        }
        return ExitCode.OK.code();
    }

    /** A parent that is killed before it has connected would be waited for otherwise. */
    private static void endWithParent(PerfDpu dpu) {
        Thread watcher =
                new Thread(
                        () -> {
                            awaitEnd(System.in);
                            dpu.abort("parent process has ended");
                        },
                        "softdpu-exit-with-parent");
        watcher.setDaemon(true);
        watcher.start();
    }

    private static void awaitEnd(InputStream parent) {
        try {
            parent.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            // If the stream cannot be read any more, the parent has ended, too.
        }
    }
}
