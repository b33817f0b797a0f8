package io.softdpu.perf.sync;

import io.softdpu.core.sync.SyncEvent;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.DpuLines;
import io.softdpu.perf.pair.PerfDpu;
import io.softdpu.perf.pair.PerfReport;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The DPU side: answers each value of the host by the next one, or adds. */
public final class SyncDpu extends PerfDpu<SyncPlan> {
    /** The line of the host by which it connects: the export of the event in hexadecimal digits. */
    static final String EXPORT = "export ";

    /** The value that ends a run of round trips: greater than all others. */
    static final long LAST = -1;

    private @Nullable SyncHandle handle;
    private @Nullable PerfReport report;

    /** Opens the machine and the device. */
    public SyncDpu(SyncPlan plan, ComchPair pair, Path fabric) {
        super(plan, pair, fabric);
    }

    @Override
    protected void connect(String line) {
        handle = resources.keep(SyncHandle.start(imported(line), plan, stop));
    }

    private SyncEvent imported(String line) {
        if (!line.startsWith(EXPORT)) {
            throw DpuLines.unexpected(line, EXPORT + "and an export", null);
        }
        try {
            return SyncEvent.createFromExport(
                    HexFormat.of().parseHex(line.substring(EXPORT.length())), device);
        } catch (IllegalArgumentException e) {
            throw DpuLines.unexpected(line, EXPORT + "and hexadecimal digits", e);
        }
    }

    @Override
    protected void drive() {
        SyncHandle own = Objects.requireNonNull(handle, "connected");
        if (plan.mode() == SyncMode.LATENCY) {
            answer(own);
            report = new PerfReport(0, 0, ResourceUse.now());
        } else {
            SyncRun adds = SyncRun.adding(own, plan.nanos(), stop);
            report = new PerfReport(adds.count(), adds.nanos(), ResourceUse.now());
        }
    }

    private static void answer(SyncHandle own) {
        long value = own.awaitGreater(0);
        while (value != LAST) {
            own.set(value + 1);
            value = own.awaitGreater(value + 1);
        }
    }

    @Override
    protected PerfReport report() {
        return Objects.requireNonNull(report, "driven");
    }
}
