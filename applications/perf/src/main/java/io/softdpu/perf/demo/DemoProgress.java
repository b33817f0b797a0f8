package io.softdpu.perf.demo;

import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.child.ProgressLine;
import io.softdpu.perf.text.Figures;
import io.softdpu.perf.text.SizeText;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;

/**
 * Shows how a demo proceeds, on the stream that it is given. On a terminal one line is written anew
 * in place; elsewhere there is a line per process that is started and per step that begins. Belongs
 * to the thread that runs the demo.
 */
public final class DemoProgress implements DemoListener {
    private static final String CLEAR_LINE = "\r\u001b[K";

    /** A line that is longer would continue on the next, where it could not be cleared. */
    private static final int MAX_LINE_CHARACTERS = 79;

    private final PrintWriter out;
    private final boolean terminal;
    private final DemoOptions options;
    private final List<DemoStep> plan;
    private boolean lineOpen;

    /** The last time left that has a line of its own. */
    private String shownLeft = "";

    /**
     * Shows nothing yet.
     *
     * @param options of the demo
     * @param out gets the lines
     * @param terminal whether that is a terminal
     */
    public DemoProgress(DemoOptions options, PrintWriter out, boolean terminal) {
        this.options = options;
        this.out = out;
        this.terminal = terminal;
        this.plan = DemoStep.of(options);
    }

    /**
     * The beginning: what the demo works on.
     *
     * @param cpus what target, service and initiator are bound to
     */
    public void begin(List<String> cpus) {
        Path file = options.volumeFile();
        line(
                Text.format(
                        "volume: %s, %s, blocks of %s; cores of target, service, initiator: %s",
                        file == null ? "pattern in memory" : ForeignText.escape(file.toString()),
                        SizeText.rounded(options.sizeBytes()),
                        SizeText.rounded(options.blockSizeBytes()),
                        String.join(options.cores() == 1 ? ", " : "; ", cpus)));
        long nanos = estimatedNanos(plan);
        line(
                Text.format(
                        "three processes, %d phases: about %s once they have started",
                        plan.size(), Figures.seconds(nanos)));
    }

    @Override
    public void starting(String process, int number, int processes) {
        show(Text.format("starting %s, process %d of %d", process, number, processes));
    }

    @Override
    public void progress(DemoStep step, ProgressLine progress) {
        if (terminal || (progress.elapsedNanos() == 0 && !progress.finished())) {
            show(text(step, progress));
        }
    }

    @Override
    public void log(String process, String line) {
        line("[" + process + "] " + line);
    }

    /** The end: nothing stays half written. */
    public void end() {
        if (lineOpen) {
            out.print(CLEAR_LINE);
            lineOpen = false;
        }
        out.flush();
    }

    private String text(DemoStep step, ProgressLine progress) {
        int index = plan.indexOf(step);
        DemoPhase phase = step.phase();
        String run =
                options.repeats() > 1 && phase.isMeasured()
                        ? Text.format(", run %d of %d", step.run(), options.repeats())
                        : "";
        String rate =
                progress.elapsedNanos() == 0
                        ? ""
                        : ", "
                                + Figures.gigabytesPerSecond(
                                        (double) progress.payloadBytes() / progress.elapsedNanos());
        long nanos =
                Math.max(0, phase.estimatedNanos(options) - progress.elapsedNanos())
                        + estimatedNanos(plan.subList(index + 1, plan.size()));
        return Text.format(
                "[%d/%d] %s%s%s%s",
                index + 1,
                plan.size(),
                phase.description(options),
                run,
                rate,
                left(Figures.seconds(nanos)));
    }

    /** Lines below each other repeat no time; one that is written anew always has it. */
    private String left(String time) {
        if (!terminal && time.equals(shownLeft)) {
            return "";
        }
        shownLeft = time;
        return Text.format("; %s left", time);
    }

    private long estimatedNanos(List<DemoStep> steps) {
        return steps.stream().mapToLong(step -> step.phase().estimatedNanos(options)).sum();
    }

    /** Shows what happens now, in place of what was shown before where that is possible. */
    private void show(String text) {
        if (!terminal) {
            line(text);
            return;
        }
        out.print(CLEAR_LINE + text.substring(0, Math.min(text.length(), MAX_LINE_CHARACTERS)));
        out.flush();
        lineOpen = true;
    }

    private void line(String text) {
        if (lineOpen) {
            out.print(CLEAR_LINE);
            lineOpen = false;
        }
        out.println(text);
        out.flush();
    }
}
