package io.softdpu.perf.comch;

import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.JvmCommand;
import io.softdpu.perf.pair.HostSide;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.TwoProcesses;
import java.nio.file.Path;
import java.util.List;

/** One measurement of a Comm Channel. */
public final class ComchSession extends TwoProcesses<PerfResult<ComchPlan, ComchFigures>> {
    private final ComchPlan plan;
    private final ComchPair pair;

    /**
     * A session that has not begun.
     *
     * @param pair the devices of both sides
     * @param jvm what starts another process like this one
     * @param dpuArguments the arguments that make it the DPU; the folder is added to them
     * @throws io.softdpu.core.DpuException NOT_SUPPORTED for a card that lacks what the measurement
     *     needs
     */
    public ComchSession(ComchPlan plan, ComchPair pair, JvmCommand jvm, List<String> dpuArguments) {
        super(jvm, dpuArguments, plan.deadlineNanos());
        this.plan = plan;
        this.pair = pair;
        plan.requireSupported(pair);
    }

    @Override
    protected HostSide<PerfResult<ComchPlan, ComchFigures>> open(Path fabric, Process dpu) {
        return new ComchHost(plan, pair, fabric, dpu);
    }
}
