package io.softdpu.perf.rdma;

import io.softdpu.core.Status;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.DpuLines;
import io.softdpu.perf.pair.PerfDpu;
import io.softdpu.perf.pair.PerfReport;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The DPU side: its memory is accessed, or it receives; and it answers where the host waits for
 * that.
 */
public final class RdmaDpu extends PerfDpu<RdmaPlan> {
    private final RdmaSide rdma;
    private final @Nullable Receives receives;
    private byte seen;
    private long answered;

    /** Opens the machine, the device, the memory and the RDMA instance. */
    public RdmaDpu(RdmaPlan plan, ComchPair pair, Path fabric) {
        super(plan, pair, fabric);
        rdma = open(() -> new RdmaSide(this, plan.isAnswered(), plan.operation().isReceived()));
        receives = rdma.receives();
    }

    @Override
    protected String export() {
        return rdma.export().toString();
    }

    @Override
    protected void connect(String line) {
        rdma.connect(
                PeerExport.parse(line)
                        .orElseThrow(() ->
                                DpuLines.unexpected(
                                        line, "peer: connection=..., memory=...", null)));
    }

    @Override
    protected boolean isEndOfHost(Status status) {
        return switch (status) {
            case CONNECTION_RESET, CONNECTION_ABORTED, NOT_CONNECTED, NOT_FOUND, SHUTDOWN -> true;
            default -> false;
        };
    }

    @Override
    protected void checkMeanwhile() {
        super.checkMeanwhile();
        rdma.requireConnection();
    }

    @Override
    protected void prepare() {
        answered = 0;
        if (receives != null) {
            receives.reset();
        }
        if (plan.operation().isAtomic()) {
            rdma.clearValue();
        }
    }

    @Override
    protected PerfReport report() {
        ResourceUse use = ResourceUse.now(); // before the counters, which are allocated
        return new PerfReport(
                receives == null ? answered : receives.received(),
                plan.operation().isAtomic() ? rdma.value() : 0,
                null,
                use,
                rdma.counters());
    }

    @Override
    protected void turn() {
        rdma.turn();
        if (plan.isAnswered() && rdma.requests().isIdle()) {
            answer();
        }
    }

    /** Answers what has come; the answer before has been completed. */
    private void answer() {
        if (plan.isPolled()) {
            byte number = rdma.writtenNumber();
            if (number != seen) {
                seen = number;
                rdma.setNumber(number);
                answered++;
                rdma.requests().submit(0);
            }
        } else if (receives != null && receives.received() > answered) {
            answered++;
            rdma.requests().submit(0);
        }
    }
}
