package io.softdpu.perf.block;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.process.SharedFolder;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.Latencies;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.perf.pair.ResourceStack;
import io.softdpu.perf.pair.SideDevice;
import io.softdpu.perf.pair.StopSign;
import io.softdpu.perf.pair.WarmUp;
import io.softdpu.perf.result.MachineUse;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Phaser;
import org.jspecify.annotations.Nullable;

/**
 * Measurement of a block device in this process.
 *
 * <p>{@link #run} belongs to one thread; {@link #interrupt} may come from another.
 */
public final class BlockMeasurement {
    private static final String PREFIX = "softdpu-perf-";
    private static final ResourceUse NONE = new ResourceUse(0, 0, 0);

    private final BlockPlan plan;
    private final ComchPair pair;

    private @Nullable StopSign stop;
    private boolean interrupted;

    /** Whether no further run follows. */
    private volatile boolean over;

    /**
     * A measurement that has not begun.
     *
     * @param pair of whose port the device is
     */
    public BlockMeasurement(BlockPlan plan, ComchPair pair) {
        this.plan = plan;
        this.pair = pair;
    }

    /**
     * Measures.
     *
     * @throws DpuException INVALID_VALUE for a URI that is refused, and a volume that is too small
     *     for the size or has too small requests; else why it could not be done; CONNECTION_ABORTED
     *     after {@link #interrupt}
     */
    public PerfResult<BlockPlan, BlockFigures> run() {
        try (BlockDevice volume = BlockDevice.open(plan.volume(), plan.blockSizeBytes())) {
            requireFits(volume);
            try (SharedFolder folder = SharedFolder.create(PREFIX);
                    ResourceStack resources = new ResourceStack()) {
                Device device =
                        SideDevice.open(resources, Side.DPU, pair, folder.fabric(), 0, null);
                volume.attach(device);
                resources.keep(volume); // before the device
                return new PerfResult<>(plan, List.of(measure(volume)));
            }
        }
    }

    /** Ends a measurement that is under way: {@link #run} fails with CONNECTION_ABORTED. */
    public synchronized void interrupt() {
        interrupted = true;
        if (stop != null) {
            stop.raise(aborted());
        }
    }

    private synchronized void begin(StopSign sign) {
        stop = sign;
        if (interrupted) {
            throw aborted();
        }
    }

    private static DpuException aborted() {
        return new DpuException(Status.CONNECTION_ABORTED, "User requested abort");
    }

    private void requireFits(BlockDevice volume) {
        long sizeBytes = volume.properties().sizeBytes();
        long limitBytes = Math.min(sizeBytes, volume.properties().maxRequestBytes());
        if (plan.sizeBytes() > limitBytes) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "size is too large for the volume: sizeBytes=%d, blockDevice=%s,"
                                    + " limit=%d",
                            plan.sizeBytes(), volume, limitBytes));
        }
    }

    private PerfRun<BlockFigures> measure(BlockDevice volume) {
        List<BlockWorker> workers = new ArrayList<>();
        try (StopSign sign =
                new StopSign(plan.limitNanos(), () -> workers.forEach(BlockWorker::wake))) {
            Phaser phases = new Phaser(1 + plan.threads());
            for (int i = 0; i < plan.threads(); i++) {
                workers.add(new BlockWorker(plan, volume, i, sign, phases, () -> over));
            }
            begin(sign);
            List<Thread> threads =
                    workers.stream()
                            .map(each -> Thread.ofPlatform().name("softdpu-perf-block").start(each))
                            .toList();
            PerfRun<BlockFigures> run;
            try {
                run = measure(volume, workers, phases, sign);
            } finally {
                over = true;
                phases.arriveAndDeregister();
                threads.forEach(BlockMeasurement::join);
            }
            sign.check(); // a context may have failed to close
            return run;
        }
    }

    private PerfRun<BlockFigures> measure(
            BlockDevice volume, List<BlockWorker> workers, Phaser phases, StopSign sign) {
        phases.arriveAndAwaitAdvance(); // all are open
        WarmUp.repeat(plan.nanos(), () -> run(volume, workers, phases, sign));
        return run(volume, workers, phases, sign);
    }

    private static PerfRun<BlockFigures> run(
            BlockDevice volume, List<BlockWorker> workers, Phaser phases, StopSign sign) {
        sign.check();
        OptionalLong machineBefore = MachineUse.now(); // which allocates
        ResourceUse before = ResourceUse.now();
        phases.arriveAndAwaitAdvance(); // begin
        phases.arriveAndAwaitAdvance(); // end
        ResourceUse used = ResourceUse.now().since(before);
        sign.check();
        double others = MachineUse.othersProcessors(machineBefore, used, NONE);
        return result(volume, workers, used, others);
    }

    private static PerfRun<BlockFigures> result(
            BlockDevice volume, List<BlockWorker> workers, ResourceUse used, double others) {
        Latencies latencies = new Latencies();
        workers.forEach(each -> latencies.add(each.latencies()));
        return new PerfRun<>(
                workers.stream().mapToLong(BlockWorker::operations).sum(),
                workers.stream().mapToLong(BlockWorker::nanos).max().orElseThrow(),
                latencies.percentiles(),
                used,
                NONE,
                others,
                null,
                new BlockFigures(volume.method(), volume.toString(), latencies.percentile(90)));
    }

    /** Awaits the end of a thread, which the stop sign has interrupted this one for, maybe. */
    private static void join(Thread thread) {
        boolean wasInterrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
