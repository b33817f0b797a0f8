package io.softdpu.perf.block;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.text.Reason;
import io.softdpu.perf.pair.Latencies;
import io.softdpu.perf.pair.SleepWarmUp;
import io.softdpu.perf.pair.StopSign;
import java.util.concurrent.Phaser;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One thread of a measurement, with an engine and a context of its own. All threads begin each run
 * together, and the results of one are read between the runs.
 */
final class BlockWorker implements Runnable {
    private final BlockPlan plan;
    private final BlockDevice volume;
    private final int index;
    private final StopSign stop;
    private final Phaser phases;
    private final BooleanSupplier over;

    private volatile @Nullable ProgressEngine engine;

    // Written before the end of a run, and read by the measuring thread after it.
    private long operations;
    private long nanos;
    private final Latencies latencies = new Latencies();

    /**
     * Creates a worker.
     *
     * @param index among those of the measurement, from 0 on
     * @param stop raised if it fails
     * @param phases begin and end of the runs, of which it is a registered party
     * @param over whether no run begins
     */
    BlockWorker(
            BlockPlan plan,
            BlockDevice volume,
            int index,
            StopSign stop,
            Phaser phases,
            BooleanSupplier over) {
        this.plan = plan;
        this.volume = volume;
        this.index = index;
        this.stop = stop;
        this.phases = phases;
        this.over = over;
    }

    @Override
    public void run() {
        try (ProgressEngine own = ProgressEngine.create()) {
            engine = own;
            SleepWarmUp.run(own);
            try (BlockTasks tasks = new BlockTasks(plan, volume, own, index, latencies, stop)) {
                phases.arriveAndAwaitAdvance(); // all are open
                phases.arriveAndAwaitAdvance(); // begin
                while (!over.getAsBoolean()) {
                    tasks.drive();
                    operations = tasks.operations();
                    nanos = tasks.nanos();
                    phases.arriveAndAwaitAdvance(); // end
                    phases.arriveAndAwaitAdvance(); // begin, or the use of the last run was read
                }
            }
        } catch (DpuException e) {
            stop.raise(e);
        } catch (RuntimeException e) {
            stop.raise(
                    new DpuException(
                            Status.UNEXPECTED,
                            "thread of the measurement has failed: reason=" + Reason.of(e),
                            e));
        } finally {
            engine = null;
            phases.arriveAndDeregister();
        }
    }

    /** Ends a sleep, to look at the stop sign. Any thread. */
    void wake() {
        ProgressEngine own = engine;
        if (own != null) {
            own.wake();
        }
    }

    long operations() {
        return operations;
    }

    long nanos() {
        return nanos;
    }

    Latencies latencies() {
        return latencies;
    }
}
