package io.softdpu.perf.pair;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.process.SharedFolder;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.child.JvmCommand;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One measurement: creates a fabric folder, starts the DPU process in it, drives the load from this
 * process, and removes both.
 *
 * <p>{@link #run} belongs to one thread; {@link #interrupt} may come from another.
 *
 * @param <R> the result
 */
public abstract class TwoProcesses<R> {
    private static final String PREFIX = "softdpu-perf-";
    private static final String REQUESTED = "User requested abort";

    /**
     * Time limit of each step that is not measured, like the setup and the end, without what grows
     * with the memory. A process that has ended is noticed at once: this is for one that hangs. On
     * a busy machine a JVM takes more than ten seconds to start.
     */
    public static final long STEP_NANOS = TimeUnit.SECONDS.toNanos(60);

    /**
     * How long it may take after a SIGTERM, and again after a SIGKILL. Together with what a host
     * takes to stop after a signal that is less than the 5 s that a signal waits for.
     */
    private static final long BROKEN_OFF_SECONDS = 1;

    private final JvmCommand jvm;
    private final List<String> dpuArguments;
    private @Nullable SharedFolder folder;
    private @Nullable Process dpu;
    private @Nullable HostSide<R> host;
    private boolean interrupted;
    private boolean ending;

    private final long endingNanos;

    /**
     * A measurement that has not begun.
     *
     * @param jvm what starts another process like this one
     * @param dpuArguments the arguments that make it the DPU; the folder is added to them
     * @param endingNanos how long the DPU process may take to end after the measurement
     */
    protected TwoProcesses(JvmCommand jvm, List<String> dpuArguments, long endingNanos) {
        this.jvm = jvm;
        this.dpuArguments = List.copyOf(dpuArguments);
        this.endingNanos = endingNanos;
    }

    /**
     * Opens the host's side; called by {@link #run}.
     *
     * @param fabric the folder of the fabric
     * @param dpu the process of the DPU
     */
    protected abstract HostSide<R> open(Path fabric, Process dpu);

    /** Where the standard output of the DPU process goes; nowhere unless overridden. */
    protected ProcessBuilder.Redirect outputOfDpu() {
        return ProcessBuilder.Redirect.DISCARD;
    }

    /**
     * Measures.
     *
     * @throws DpuException why it could not be done; CONNECTION_ABORTED after {@link #interrupt}
     */
    public final R run() {
        try (TakingDown _ = this::takeDown) {
            Path fabric = begin();
            R result = measure(fabric);
            awaitGoodEnd();
            return result;
        }
    }

    private R measure(Path fabric) {
        try (HostSide<R> opened = open(fabric, Objects.requireNonNull(dpu))) {
            attach(opened);
            return opened.run();
        }
    }

    /** Ends a measurement that is under way: {@link #run} fails with CONNECTION_ABORTED. */
    public final synchronized void interrupt() {
        interrupted = true;
        if (host != null) {
            host.abort(REQUESTED);
        }
        if (ending && dpu != null) {
            dpu.destroyForcibly(); // a regular end is not awaited any more
        }
    }

    private synchronized void attach(HostSide<R> opened) {
        host = opened;
        if (interrupted) {
            opened.abort(REQUESTED);
        }
    }

    /** The fabric folder, with the other process on its way. */
    private synchronized Path begin() {
        requireNotInterrupted();
        SharedFolder made = SharedFolder.create(PREFIX);
        folder = made;
        List<String> arguments = new ArrayList<>(dpuArguments);
        arguments.addAll(List.of("--parent-folder", made.root().toString()));
        try {
            dpu =
                    new ProcessBuilder(jvm.with(arguments))
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .redirectOutput(outputOfDpu())
                            .start();
            return made.fabric();
        } catch (IOException e) {
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "process of the DPU cannot be started: reason=" + Reason.of(e),
                    e);
        }
    }

    /** Fails if the process of the DPU has failed, since the measurement is not reliable then. */
    private void awaitGoodEnd() {
        Process process = beginEnding();
        // Generous, on a machine that is busy; a signal cuts it short.
        long endingSeconds = TimeUnit.NANOSECONDS.toSeconds(endingNanos);
        boolean ended = hasEnded(process, endingSeconds);
        requireNotInterrupted();
        if (!ended) {
            throw new DpuException(
                    Status.TIME_OUT,
                    Text.format(
                            "process of the DPU does not end after the measurement: pid=%d,"
                                    + " waitedSeconds=%d",
                            process.pid(), endingSeconds));
        }
        if (process.exitValue() != 0) {
            throw new DpuException(
                    Status.UNEXPECTED,
                    Text.format(
                            "process of the DPU failed after the measurement: %s, expected=0",
                            JvmCommand.describeExit(process.exitValue())));
        }
    }

    private synchronized Process beginEnding() {
        requireNotInterrupted();
        ending = true;
        return Objects.requireNonNull(dpu);
    }

    private synchronized void requireNotInterrupted() {
        if (interrupted) {
            throw new DpuException(Status.CONNECTION_ABORTED, REQUESTED);
        }
    }

    private void takeDown() {
        Process started;
        SharedFolder made;
        synchronized (this) {
            started = dpu;
            made = folder;
        }
        try {
            if (started != null && started.isAlive()) {
                started.destroy(); // it may wait for a host that does not connect
                if (!hasEnded(started, BROKEN_OFF_SECONDS)) {
                    requireEnd(started.destroyForcibly());
                }
            }
        } finally {
            if (made != null) {
                made.close();
            }
        }
    }

    private static void requireEnd(Process killed) {
        if (!hasEnded(killed, BROKEN_OFF_SECONDS)) {
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "process of the DPU does not end after being killed: pid=" + killed.pid());
        }
    }

    private static boolean hasEnded(Process process, long seconds) {
        try {
            return process.waitFor(seconds, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** An action of the clean-up, whose failure must not hide the failure before it. */
    private interface TakingDown extends AutoCloseable {
        @Override
        void close();
    }
}
