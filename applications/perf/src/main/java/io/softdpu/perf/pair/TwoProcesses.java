package io.softdpu.perf.pair;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.process.SharedFolder;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.JvmCommand;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
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
 * @param <P> the plan
 * @param <X> figures of this kind of measurement alone
 */
public final class TwoProcesses<P extends PerfPlan, X> {
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

    private final P plan;
    private final ComchPair pair;
    private final HostSide.Opener<P, X> opener;
    private final JvmCommand jvm;
    private final List<String> dpuArguments;
    private @Nullable SharedFolder folder;
    private @Nullable Process dpu;
    private @Nullable HostSide<P, X> host;
    private boolean interrupted;
    private boolean ending;

    /**
     * A measurement that has not begun.
     *
     * @param pair the devices of both sides
     * @param opener of the host's side, called by {@link #run}
     * @param jvm what starts another process like this one
     * @param dpuArguments the arguments that make it the DPU; the folder is added to them
     * @throws DpuException NOT_SUPPORTED for a card that lacks what the measurement needs
     */
    public TwoProcesses(
            P plan,
            ComchPair pair,
            HostSide.Opener<P, X> opener,
            JvmCommand jvm,
            List<String> dpuArguments) {
        plan.requireSupported(pair);
        this.plan = plan;
        this.pair = pair;
        this.opener = opener;
        this.jvm = jvm;
        this.dpuArguments = List.copyOf(dpuArguments);
    }

    /**
     * Measures.
     *
     * @throws DpuException why it could not be done; CONNECTION_ABORTED after {@link #interrupt}
     */
    public PerfResult<P, X> run() {
        try (TakingDown _ = this::takeDown) {
            Path fabric = begin();
            PerfResult<P, X> result = measure(fabric);
            awaitGoodEnd();
            return result;
        }
    }

    private PerfResult<P, X> measure(Path fabric) {
        try (HostSide<P, X> opened = opener.open(plan, pair, fabric, Objects.requireNonNull(dpu))) {
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

    private synchronized void attach(HostSide<P, X> opened) {
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
                            .redirectOutput(plan.isByLines() ? Redirect.PIPE : Redirect.DISCARD)
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
        long endingSeconds = TimeUnit.NANOSECONDS.toSeconds(plan.deadlineNanos());
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
