package io.softdpu.cli;

import io.softdpu.cli.child.ProgressLine;
import io.softdpu.cli.demo.DemoListener;
import io.softdpu.cli.demo.DemoOptions;
import io.softdpu.cli.demo.DemoPhase;
import io.softdpu.cli.options.SizeConverter;
import io.softdpu.linux.text.ForeignText;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Shows on standard error how a demo proceeds. On a terminal the line of a running phase is written
 * anew in place; elsewhere there is one line a phase, when it has ended.
 */
final class DemoProgress implements DemoListener {
    private static final Path STANDARD_ERROR = Path.of("/proc/self/fd/2");
    private static final String CLEAR_LINE = "\r\u001b[K";

    private final PrintWriter err;
    private final boolean terminal;
    private List<DemoPhase> plan = List.of();
    private boolean lineOpen;

    private DemoProgress(PrintWriter err, boolean terminal) {
        this.err = err;
        this.terminal = terminal;
    }

    static DemoProgress onStandardError(PrintWriter err) {
        return new DemoProgress(err, isTerminal());
    }

    void begin(DemoOptions options, List<String> cpus) {
        plan = DemoPhase.of(options);
        Path file = options.volumeFile();
        line(
                "volume: %s, %s, blocks of %d bytes; cores of target, service, initiator: %s"
                        .formatted(
                                file == null ? "pattern" : ForeignText.escape(file.toString()),
                                SizeConverter.format(options.sizeBytes()),
                                options.blockSizeBytes(),
                                String.join(", ", cpus)));
    }

    @Override
    public void starting(String process) {
        line("starting " + process);
    }

    @Override
    public void progress(DemoPhase phase, ProgressLine progress) {
        if (progress.finished()) {
            line(text(phase, progress));
        } else if (terminal) {
            err.print(CLEAR_LINE + text(phase, progress));
            err.flush();
            lineOpen = true;
        }
    }

    @Override
    public void log(String process, String line) {
        line("[" + process + "] " + line);
    }

    /** The end: nothing stays half written. */
    void end() {
        if (lineOpen) {
            err.println();
            lineOpen = false;
        }
    }

    private String text(DemoPhase phase, ProgressLine progress) {
        double seconds = progress.elapsedNanos() / 1e9;
        return String.format(
                Locale.ROOT,
                "[%d/%d] %s: %d operations, %.1f s, %.2f GiB/s",
                plan.indexOf(phase) + 1,
                plan.size(),
                phase.title(),
                progress.operations(),
                seconds,
                seconds == 0 ? 0 : progress.payloadBytes() / seconds / (1L << 30));
    }

    private void line(String text) {
        if (lineOpen) {
            err.print(CLEAR_LINE);
            lineOpen = false;
        }
        err.println(text);
    }

    /** Java tells this of standard input and output together; the kernel tells it of each. */
    private static boolean isTerminal() {
        try {
            String device = Files.readSymbolicLink(STANDARD_ERROR).toString();
            return device.startsWith("/dev/pts/") || device.startsWith("/dev/tty");
        } catch (IOException e) {
            return false;
        }
    }
}
