package io.softdpu.perf.pair;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.perf.card.ComchPair;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One side of a measurement whose processes exchange lines: its device, its engine, and the request
 * to stop. Belongs to the thread that makes it, except for {@link #stop}.
 *
 * @param <P> the plan
 */
public abstract class PerfSide<P extends PerfPlan> implements AutoCloseable {
    /** The plan, which both sides have. */
    public final P plan;

    /** Which side it is. */
    public final Side side;

    /** Objects that are closed with this side, the last one first. */
    public final ResourceStack resources = new ResourceStack();

    /** The engine of the thread. */
    public final ProgressEngine engine;

    /** The request to stop, which any thread raises. */
    public final StopSign stop;

    /** The device of this side. */
    public final Device device;

    private final @Nullable SharedLine line;

    /**
     * Opens the machine and the device. Does not pin the thread yet: threads that are still to be
     * started would inherit it.
     *
     * @param pair the devices of both sides
     */
    PerfSide(P plan, Side side, ComchPair pair, Path fabric) {
        this.plan = plan;
        this.side = side;
        engine = resources.keep(ProgressEngine.create());
        stop =
                open(() -> {
                    SleepWarmUp.run(engine);
                    return resources.keep(new StopSign(plan.limitNanos(), this::unblock));
                });
        device =
                open(() ->
                        SideDevice.open(
                                resources, side, pair, fabric, plan.importLimitBytes(), null));
        line =
                plan.isLineTimed()
                        ? open(() -> resources.keep(new SharedLine(SharedLine.fileOf(fabric))))
                        : null;
    }

    /** Opens something else of this side; all of it is closed if that fails. */
    protected final <T> T open(Supplier<T> opening) {
        try {
            return opening.get();
        } catch (RuntimeException e) {
            resources.closeAfter(e);
            throw e;
        }
    }

    /** The other side, for messages. */
    public abstract String peerName();

    /** Ends a wait that no interrupt ends; called by the thread that raises {@link #stop}. */
    void unblock() {
        engine.wake();
    }

    /** Pins the calling thread as the plan says; all others have been started. */
    final void pin() {
        SideDevice.pin(side, plan.cpus());
    }

    /** The line that both sides have mapped, where the plan times it. */
    final SharedLine line() {
        return Objects.requireNonNull(line, "timed");
    }

    /**
     * Checks, in a wait without the engine, that neither side is to end.
     *
     * @throws DpuException the reason why one is
     */
    protected void checkMeanwhile() {
        stop.check();
        engine.progress();
    }

    @Override
    public void close() {
        resources.close();
    }
}
