package io.softdpu.cli;

import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.comch.PerfDpu;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The DPU process of {@code softdpu perf comch}, which starts it. */
@Command(name = "comch-dpu")
final class PerfDpuCommand extends DpuCommand {
    @Mixin private final PerfPlanOptions options = new PerfPlanOptions();

    @Override
    void serve(CommandLine command, ComchPair pair, Path fabric) {
        try (PerfDpu dpu = new PerfDpu(options.plan(command), pair, fabric)) {
            endWithParent(dpu);
            dpu.run();
        }
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
