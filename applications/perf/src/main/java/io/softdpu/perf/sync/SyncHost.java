package io.softdpu.perf.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.DpuLines;
import io.softdpu.perf.pair.Latencies;
import io.softdpu.perf.pair.PerfHost;
import io.softdpu.perf.pair.PerfReport;
import io.softdpu.perf.pair.PerfRun;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;

/** The host side: has the CPU handle, drives the load and measures. */
public final class SyncHost extends PerfHost<SyncPlan, Optional<SyncAdds>> {
    private final SyncEvent event;
    private final SyncHandle handle;
    private final Latencies latencies = new Latencies();
    private SyncRun own = new SyncRun(0, 0);

    /**
     * Opens the machine, the device and the event.
     *
     * @param pair the devices of both sides
     * @param dpu the process of the DPU; the host does not wait any more once it has ended
     */
    public SyncHost(SyncPlan plan, ComchPair pair, Path fabric, Process dpu) {
        super(plan, pair, fabric, dpu);
        event =
                open(() ->
                        SyncEvent.create(device)
                                .addPublisherLocation(SyncEventLocation.CPU)
                                .addSubscriberLocation(SyncEventLocation.DPU));
        handle = open(() -> resources.keep(SyncHandle.start(event, plan, stop)));
    }

    @Override
    protected void connect(DpuLines over) {
        over.write(SyncDpu.EXPORT + HexFormat.of().formatHex(event.exportPci(device)));
    }

    @Override
    protected void prepare() {
        handle.set(0);
        latencies.reset();
    }

    /** The warm-up is without pace: a few hundred round trips compile nothing. */
    @Override
    public void drive(boolean isWarmUp) {
        own =
                plan.mode() == SyncMode.RATE
                        ? SyncRun.adding(handle, plan.nanos(), stop)
                        : roundTrips(isWarmUp ? 0 : plan.paceNanos());
    }

    @Override
    public ResourceUse end() {
        if (plan.mode() == SyncMode.LATENCY) {
            handle.set(SyncDpu.LAST);
        }
        return super.end();
    }

    @Override
    protected PerfRun<Optional<SyncAdds>> result(
            PerfReport ofDpu, ResourceUse host, ResourceUse used, double others) {
        boolean isRate = plan.mode() == SyncMode.RATE;
        return new PerfRun<>(
                own.count() + ofDpu.operations(),
                own.nanos(),
                latencies.percentiles(),
                host,
                used,
                others,
                null,
                isRate ? Optional.of(sumOf(own, ofDpu)) : Optional.empty());
    }

    private SyncAdds sumOf(SyncRun own, PerfReport others) {
        long value = event.get();
        if (value != own.count() + others.operations()) {
            throw new DpuException(
                    Status.UNEXPECTED,
                    Text.format(
                            "value is not the sum of the additions: value=%d, host=%d, dpu=%d",
                            value, own.count(), others.operations()));
        }
        return new SyncAdds(own.count(), own.nanos(), others.operations(), others.value(), value);
    }

    /** Round trips until the time is over; the end of one is the begin of the next. */
    private SyncRun roundTrips(long paceNanos) {
        long begin = System.nanoTime();
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
                return new SyncRun(count, returnedAt - begin);
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
}
