package io.softdpu.perf.pair;

import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.result.MachineUse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Host's side of a measurement. Belongs to the thread that opens it, except for {@link #abort}.
 *
 * @param <P> the plan
 * @param <X> figures of this kind of measurement alone
 */
public interface HostSide<P extends PerfPlan, X> extends AutoCloseable {
    /**
     * Connects to the other side, and measures by {@link #measure}.
     *
     * @throws io.softdpu.core.DpuException if the other side does not come, does not answer, or
     *     goes; CONNECTION_ABORTED after {@link #abort}
     */
    PerfResult<P, X> run();

    /** Ends a measurement that is under way. Any thread. */
    void abort(String reason);

    @Override
    void close();

    /**
     * Opens the host's side.
     *
     * @param <P> the plan
     * @param <X> figures of this kind of measurement alone
     */
    interface Opener<P extends PerfPlan, X> {
        /**
         * Opens it.
         *
         * @param pair the devices of both sides
         * @param fabric the folder of the fabric
         * @param dpu the process of the DPU
         */
        HostSide<P, X> open(P plan, ComchPair pair, Path fabric, Process dpu);
    }

    // ---- runs

    /** Begins a run, and returns what the process of the DPU has used until then. */
    ResourceUse begin();

    /** Drives the load of a run to its end. */
    void drive(boolean isWarmUp);

    /** Ends a run, and returns what the process of the DPU has used until then. */
    ResourceUse end();

    /** The result of the run, without line times. */
    PerfRun<X> result(ResourceUse host, ResourceUse dpu, double others);

    /** The round trip of a cache line to the thread of the DPU and back. */
    long lineNanos();

    /** Warms up and measures as often as the plan says. */
    default PerfResult<P, X> measure(P plan) {
        WarmUp.repeat(plan.nanos(), () -> run(plan, true));
        List<PerfRun<X>> runs = new ArrayList<>();
        for (int i = 0; i < plan.repeats(); i++) {
            runs.add(run(plan, false));
        }
        return new PerfResult<>(plan, runs);
    }

    private PerfRun<X> run(P plan, boolean isWarmUp) {
        if (!plan.isLineTimed()) {
            return run(isWarmUp);
        }
        long before = lineNanos();
        PerfRun<X> run = run(isWarmUp);
        return run.with(new LineTimes(before, lineNanos()));
    }

    private PerfRun<X> run(boolean isWarmUp) {
        ResourceUse dpuBefore = begin();
        OptionalLong machineBefore = MachineUse.now(); // which allocates
        ResourceUse hostBefore = ResourceUse.now();
        drive(isWarmUp);
        ResourceUse host = ResourceUse.now().since(hostBefore);
        ResourceUse dpu = end().since(dpuBefore);
        return result(host, dpu, MachineUse.othersProcessors(machineBefore, host, dpu));
    }
}
