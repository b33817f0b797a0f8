package io.softdpu.perf.pair;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The host's side of a measurement whose processes exchange lines. Subclasses connect, and drive
 * the load.
 *
 * @param <P> the plan
 * @param <X> figures of this kind of measurement alone
 */
public abstract class PerfHost<P extends PerfPlan, X> extends PerfSide<P>
        implements HostSide<P, X> {
    private final DpuLines lines;
    private final Process dpu;
    private @Nullable PerfReport report;

    /**
     * Opens the machine and the device.
     *
     * @param pair the devices of both sides
     * @param dpu the process of the DPU; the host does not wait any more once it has ended
     */
    protected PerfHost(P plan, ComchPair pair, Path fabric, Process dpu) {
        super(plan, Side.HOST, pair, fabric);
        this.dpu = dpu;
        lines = new DpuLines(dpu);
    }

    /** Connects to the other side, which does the same. */
    protected abstract void connect(DpuLines over);

    /** Makes the next run ready, before the other side begins it. */
    protected abstract void prepare();

    /** The result of the run, without line times, of which the DPU has reported its part. */
    protected abstract PerfRun<X> result(
            PerfReport ofDpu, ResourceUse host, ResourceUse used, double others);

    @Override
    public final String peerName() {
        return "DPU process " + dpu.pid();
    }

    @Override
    final void unblock() {
        Process process = dpu;
        if (process != null) {
            process.destroyForcibly(); // this side may wait for its lines
        }
        super.unblock();
    }

    @Override
    public final PerfResult<P, X> run() {
        CompletableFuture<Void> _ =
                dpu.onExit().thenAccept(ended -> stop.raise(DpuLines.endOf(ended)));
        try (StopSign _ = stop) {
            pin();
            connect(lines);
            lines.require(PerfDpu.READY);
            PerfResult<P, X> result = measure(plan);
            lines.close(); // which ends the process of the DPU
            return result;
        } catch (DpuException e) {
            DpuException reason = stop.reason(); // instead of the wait that it has ended
            throw reason == null ? lines.causeOf(e) : reason;
        }
    }

    /** Ends it: the process of the DPU as well, whose lines this side may wait for. */
    @Override
    public final void abort(String reason) {
        stop.raise(new DpuException(Status.CONNECTION_ABORTED, reason));
    }

    @Override
    public final ResourceUse begin() {
        prepare();
        lines.write(PerfDpu.RUN);
        return lines.read(ResourceUse::parse, "its resources");
    }

    @Override
    public ResourceUse end() {
        lines.write(PerfDpu.END);
        PerfReport found = lines.read(PerfReport::parse, "its part of the run");
        report = found;
        return found.use();
    }

    @Override
    public final PerfRun<X> result(ResourceUse host, ResourceUse used, double others) {
        PerfReport found = report;
        if (found == null) {
            throw new AssertionError("ended");
        }
        return result(found, host, used, others);
    }

    @Override
    public final long lineNanos() {
        lines.write(PerfDpu.LINE);
        return line().measure(plan.deadlineNanos(), this::checkMeanwhile);
    }
}
