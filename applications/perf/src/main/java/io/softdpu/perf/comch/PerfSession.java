package io.softdpu.perf.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.JvmCommand;
import io.softdpu.perf.child.SharedFolder;
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
 */
public final class PerfSession {
    private static final String PREFIX = "softdpu-perf-";
    private static final String REQUESTED = "User requested abort";

    /**
     * How long it may take after a SIGTERM, and again after a SIGKILL. Together with what {@link
     * PerfSide} takes to stop after a signal that is less than the 5 s that a signal waits for.
     */
    private static final long BROKEN_OFF_SECONDS = 1;

    private final PerfPlan plan;
    private final ComchPair pair;
    private final JvmCommand jvm;
    private final List<String> dpuArguments;
    private @Nullable SharedFolder folder;
    private @Nullable Process dpu;
    private @Nullable PerfHost host;
    private boolean interrupted;
    private boolean ending;

    /**
     * A session that has not begun.
     *
     * @param pair the devices of both sides
     * @param jvm what starts another process like this one
     * @param dpuArguments the arguments that make it the DPU; the folder is added to them
     */
    public PerfSession(PerfPlan plan, ComchPair pair, JvmCommand jvm, List<String> dpuArguments) {
        this.plan = plan;
        this.pair = pair;
        this.jvm = jvm;
        this.dpuArguments = List.copyOf(dpuArguments);
    }

    /**
     * Measures.
     *
     * @throws DpuException NOT_SUPPORTED for a card that lacks what the measurement needs, or why
     *     it could not be done; CONNECTION_ABORTED after {@link #interrupt}
     */
    public PerfSummary run() {
        plan.requireSupported(pair);
        try (TakingDown _ = this::takeDown) {
            Path fabric = begin();
            PerfSummary summary = measure(fabric);
            awaitGoodEnd();
            return summary;
        }
    }

    private PerfSummary measure(Path fabric) {
        try (PerfHost opened = new PerfHost(plan, pair, fabric, Objects.requireNonNull(dpu))) {
            attach(opened);
            return opened.run();
        }
    }

    /** Ends a measurement that is under way: {@link #run} fails with CONNECTION_ABORTED. */
    public synchronized void interrupt() {
        interrupted = true;
        if (host != null) {
            host.abort(REQUESTED);
        }
        if (ending && dpu != null) {
            dpu.destroyForcibly(); // a regular end is not awaited any more
        }
    }

    private synchronized void attach(PerfHost opened) {
        host = opened;
        if (interrupted) {
            opened.abort(REQUESTED);
        }
    }

    /** The fabric folder, with the other process on its way. */
    private synchronized Path begin() {
        requireNotInterrupted();
        Path parent = Path.of(System.getProperty("java.io.tmpdir"));
        SharedFolder.sweep(parent, PREFIX);
        try {
            SharedFolder made = SharedFolder.create(parent, PREFIX);
            folder = made;
            Path fabric = made.makeFolder(PerfDpu.FABRIC);
            List<String> arguments = new ArrayList<>(dpuArguments);
            arguments.addAll(List.of("--parent-folder", made.root().toString()));
            dpu =
                    new ProcessBuilder(jvm.with(arguments))
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start();
            return fabric;
        } catch (IOException e) {
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "measurement cannot begin: parent=" + parent + ", reason=" + e,
                    e);
        }
    }

    /** Fails if the process of the DPU has failed, since the measurement is not reliable then. */
    private void awaitGoodEnd() {
        Process process = beginEnding();
        // Generous, on a machine that is busy; a signal cuts it short.
        long endingSeconds = TimeUnit.NANOSECONDS.toSeconds(plan.deadlineNanos());
        boolean ended = hasEnded(process, endingSeconds);
        requireNotInterrupted();
        if (!ended) {
            throw new DpuException(
                    Status.TIME_OUT,
                    "process of the DPU does not end after the measurement: pid=%d, waitedSeconds=%d"
                            .formatted(process.pid(), endingSeconds));
        }
        if (process.exitValue() != 0) {
            throw new DpuException(
                    Status.UNEXPECTED,
                    "process of the DPU failed after the measurement: exit=%d, expected=0"
                            .formatted(process.exitValue()));
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
                made.remove();
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
