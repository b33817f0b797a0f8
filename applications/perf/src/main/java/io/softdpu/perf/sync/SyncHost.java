package io.softdpu.perf.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.DpuLines;
import io.softdpu.perf.pair.HostSide;
import io.softdpu.perf.pair.Latencies;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.perf.pair.ResourceStack;
import io.softdpu.perf.pair.SideDevice;
import io.softdpu.perf.pair.StopSign;
import io.softdpu.perf.result.MachineUse;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** The host side: has the CPU handle, drives the load and measures. */
public final class SyncHost implements HostSide<PerfResult<SyncPlan, Optional<SyncAdds>>> {
    private final SyncPlan plan;
    private final DpuLines lines;
    private final ResourceStack resources = new ResourceStack();
    private final StopSign stop;
    private final Device device;
    private final SyncEvent event;
    private final SyncHandle handle;
    private final Latencies latencies = new Latencies();

    /**
     * Opens the machine, the device and the event.
     *
     * @param pair the devices of both sides
     * @param dpu the process of the DPU; the host does not wait any more once it has ended
     */
    public SyncHost(SyncPlan plan, ComchPair pair, Path fabric, Process dpu) {
        this.plan = plan;
        lines = new DpuLines(dpu);
        stop = resources.keep(new StopSign(plan.limitNanos(), dpu::destroyForcibly));
        try {
            device = SideDevice.open(resources, Side.HOST, pair, fabric, 0, plan.cpus());
            event =
                    SyncEvent.create(device)
                            .addPublisherLocation(SyncEventLocation.CPU)
                            .addSubscriberLocation(SyncEventLocation.DPU);
            handle = resources.keep(SyncHandle.start(event, plan, stop));
        } catch (RuntimeException e) {
            resources.closeAfter(e);
            throw e;
        }
        CompletableFuture<Void> _ =
                dpu.onExit().thenAccept(ended -> stop.raise(DpuLines.endOf(ended)));
    }

    @Override
    public PerfResult<SyncPlan, Optional<SyncAdds>> run() {
        try (StopSign _ = stop) {
            lines.write(SyncDpu.EXPORT + HexFormat.of().formatHex(event.exportPci(device)));
            lines.require(SyncDpu.READY);
            // The warm-up is without pace: a few hundred round trips compile nothing.
            measure(0);
            PerfRun<Optional<SyncAdds>> measured = measure(plan.paceNanos());
            lines.close(); // which ends the process of the DPU
            return new PerfResult<>(plan, List.of(measured));
        } catch (DpuException e) {
            DpuException reason = stop.reason(); // instead of the wait that it has ended
            throw reason == null ? e : reason;
        }
    }

    /** Ends it: the process of the DPU as well, whose lines this side may wait for. */
    @Override
    public void abort(String reason) {
        stop.raise(new DpuException(Status.CONNECTION_ABORTED, reason));
    }

    // ---- runs

    private PerfRun<Optional<SyncAdds>> measure(long paceNanos) {
        handle.set(0);
        lines.write(SyncDpu.RUN);
        ResourceUse dpuBefore = lines.read(ResourceUse::parse, "its resources");
        OptionalLong machineBefore = MachineUse.now(); // which allocates
        ResourceUse hostBefore = ResourceUse.now();
        boolean isRate = plan.mode() == SyncMode.RATE;
        long begin = System.nanoTime();
        SyncRun own = isRate ? SyncRun.adding(handle, plan.nanos(), stop) : null;
        long roundTrips = isRate ? 0 : roundTrips(begin, paceNanos);
        long nanos = System.nanoTime() - begin;
        ResourceUse host = ResourceUse.now().since(hostBefore);
        if (!isRate) {
            handle.set(SyncDpu.END);
        }
        SyncRun others = lines.read(SyncRun::parse, "its part of the run");
        ResourceUse used = lines.read(ResourceUse::parse, "its resources").since(dpuBefore);
        return new PerfRun<>(
                own == null ? roundTrips : own.adds() + others.adds(),
                nanos,
                isRate ? null : latencies.percentiles(),
                host,
                used,
                MachineUse.othersProcessors(machineBefore, host, used),
                null,
                own == null ? Optional.empty() : Optional.of(sumOf(own, others)));
    }

    private SyncAdds sumOf(SyncRun own, SyncRun others) {
        long value = event.get();
        if (value != own.adds() + others.adds()) {
            throw new DpuException(
                    Status.UNEXPECTED,
                    Text.format(
                            "value is not the sum of the additions: value=%d, host=%d, dpu=%d",
                            value, own.adds(), others.adds()));
        }
        return new SyncAdds(own.adds(), own.nanos(), others.adds(), others.nanos(), value);
    }

    /** Round trips until the time is over; the end of one is the begin of the next. */
    private long roundTrips(long begin, long paceNanos) {
        latencies.reset();
        long count = 0;
        long value = 1;
        long sentAt = begin;
        handle.set(value);
        while (true) {
            handle.awaitGreater(value);
            long returnedAt = System.nanoTime();
            long roundTrip = returnedAt - sentAt;
            count++;
            value += 2;
            if (returnedAt - begin >= plan.nanos()) {
                latencies.record(roundTrip);
                return count;
            }
            if (paceNanos > 0) {
                handle.awaitTime(begin + count * paceNanos);
                sentAt = System.nanoTime();
            } else {
                sentAt = returnedAt;
            }
            handle.set(value);
            latencies.record(roundTrip); // while the next one is on its way
        }
    }

    @Override
    public void close() {
        resources.close();
    }
}
