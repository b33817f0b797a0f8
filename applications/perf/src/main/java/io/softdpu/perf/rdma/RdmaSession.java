package io.softdpu.perf.rdma;

import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.JvmCommand;
import io.softdpu.perf.pair.HostSide;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.TwoProcesses;
import java.nio.file.Path;
import java.util.List;

/** One measurement of RDMA. */
public final class RdmaSession extends TwoProcesses<PerfResult<RdmaPlan, RdmaFigures>> {
    private final RdmaPlan plan;
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
    public RdmaSession(RdmaPlan plan, ComchPair pair, JvmCommand jvm, List<String> dpuArguments) {
        super(jvm, dpuArguments, plan.deadlineNanos());
        this.plan = plan;
        this.pair = pair;
        plan.requireSupported(pair);
    }

    @Override
    protected HostSide<PerfResult<RdmaPlan, RdmaFigures>> open(Path fabric, Process dpu) {
        return new RdmaHost(plan, pair, fabric, dpu);
    }

    @Override
    protected ProcessBuilder.Redirect outputOfDpu() {
        return ProcessBuilder.Redirect.PIPE;
    }
}
