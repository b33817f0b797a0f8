package io.softdpu.perf.pair;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.process.LineReader;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.child.JvmCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The host's end of the lines by which it agrees with the process of the DPU: standard input and
 * output of that process. Belongs to the host's thread.
 */
public final class DpuLines {
    /** A process closes its output before its parent is notified of its end. */
    private static final long LATE_SECONDS = 1;

    /** Far more than the longest line, which has exports in hexadecimal digits. */
    private static final int MAX_LINE_CHARACTERS = 1 << 16;

    private final Process dpu;
    private final LineReader lines;

    /** The lines of a process that was started with a pipe for its output. */
    public DpuLines(Process dpu) {
        this.dpu = dpu;
        lines = new LineReader(dpu.inputReader(StandardCharsets.US_ASCII), MAX_LINE_CHARACTERS);
    }

    /**
     * Writes a line.
     *
     * @throws DpuException CONNECTION_RESET if the process has ended
     */
    public void write(String line) {
        try {
            dpu.getOutputStream().write((line + '\n').getBytes(StandardCharsets.US_ASCII));
            dpu.getOutputStream().flush();
        } catch (IOException e) {
            throw peerHasEnded(e);
        }
    }

    /**
     * Waits for a line.
     *
     * @throws DpuException CONNECTION_RESET if the process has ended
     */
    public String read() {
        try {
            String line = lines.next();
            if (line == null) {
                throw peerHasEnded(null);
            }
            return line;
        } catch (IOException e) {
            throw peerHasEnded(e);
        }
    }

    /**
     * Waits for a line of a form.
     *
     * @param parser its value; empty if it has another form
     * @throws DpuException UNEXPECTED if it has; CONNECTION_RESET if the process has ended
     */
    public <T> T read(Function<String, Optional<T>> parser, String expected) {
        String line = read();
        return parser.apply(line).orElseThrow(() -> unexpected(line, expected, null));
    }

    /**
     * Waits for a line of one form.
     *
     * @throws DpuException UNEXPECTED if it is another; CONNECTION_RESET if the process has ended
     */
    public void require(String expected) {
        String line = read();
        if (!line.equals(expected)) {
            throw unexpected(line, expected, null);
        }
    }

    /** Closes the standard input of the process, which ends it. */
    public void close() {
        try {
            dpu.getOutputStream().close();
        } catch (IOException e) {
            throw peerHasEnded(e);
        }
    }

    /** The error for an ended process. */
    public static DpuException endOf(Process ended) {
        return new DpuException(
                Status.CONNECTION_RESET,
                "process of the DPU has ended: " + JvmCommand.describeExit(ended.exitValue()));
    }

    /**
     * The error for a peer that is gone: the exit code of its process tells more than its cause.
     */
    public DpuException peerHasEnded(@Nullable Exception cause) {
        try {
            if (dpu.waitFor(LATE_SECONDS, TimeUnit.SECONDS)) {
                return endOf(dpu);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return new DpuException(
                Status.CONNECTION_RESET,
                "process of the DPU does not answer: pid=" + dpu.pid(),
                cause);
    }

    /** A failure, or the end of the process if that has caused it: its exit code tells more. */
    public DpuException causeOf(DpuException failure) {
        return switch (failure.status()) {
            case CONNECTION_RESET, CONNECTION_ABORTED, NOT_CONNECTED, SHUTDOWN, BAD_STATE -> {
                DpuException end = peerHasEnded(failure);
                yield dpu.isAlive() ? failure : end;
            }
            default -> failure;
        };
    }

    /** The error for a line of the other process. */
    public static DpuException unexpected(String line, String expected, @Nullable Throwable cause) {
        return new DpuException(
                Status.UNEXPECTED,
                Text.format(
                        "line of the other process is illegal: line=%s, expected=%s",
                        ForeignText.escapeAndCut(line), expected),
                cause);
    }
}
