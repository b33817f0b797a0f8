package io.softdpu.perf.demo;

import io.softdpu.linux.text.ForeignText;
import io.softdpu.perf.child.ProgressLine;
import io.softdpu.perf.text.SizeText;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Shows how a demo proceeds, on the stream that it is given. On a terminal the line of a running
 * phase is written anew in place; elsewhere there is one line per phase, when it has ended. Belongs
 * to the thread that runs the demo.
 */
public final class DemoProgress implements DemoListener {
    private static final String CLEAR_LINE = "\r\u001b[K";

    private final PrintWriter out;
    private final boolean terminal;
    private List<DemoPhase> plan = List.of();
    private boolean lineOpen;

    /**
     * Shows nothing yet.
     *
     * @param out gets the lines
     * @param terminal whether that is a terminal
     */
    public DemoProgress(PrintWriter out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    /**
     * The beginning: what the demo works on.
     *
     * @param cpus what target, service and initiator are bound to
     */
    public void begin(DemoOptions options, List<String> cpus) {
        plan = DemoPhase.of(options);
        Path file = options.volumeFile();
        line(
                "volume: %s, %s, blocks of %d bytes; cores of target, service, initiator: %s"
                        .formatted(
                                file == null ? "pattern" : ForeignText.escape(file.toString()),
                                SizeText.format(options.sizeBytes()),
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
            out.print(CLEAR_LINE + text(phase, progress));
            out.flush();
            lineOpen = true;
        }
    }

    @Override
    public void log(String process, String line) {
        line("[" + process + "] " + line);
    }

    /** The end: nothing stays half written. */
    public void end() {
        if (lineOpen) {
            out.println();
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
            out.print(CLEAR_LINE);
            lineOpen = false;
        }
        out.println(text);
    }
}
