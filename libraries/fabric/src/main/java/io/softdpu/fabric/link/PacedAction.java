package io.softdpu.fabric.link;

import io.softdpu.fabric.thread.BusLoop;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.thread.BusWatch;
import org.jspecify.annotations.Nullable;

/**
 * Action that runs on the bus thread once per interval at most, however often it is requested: at
 * once if it has not run for that long, otherwise at the end of the interval. It runs after each
 * request, so nothing is lost.
 *
 * <p>On the bus thread. It has nothing to close: a deadline that is set ends with the action, or
 * with the bus.
 */
public final class PacedAction {
    private final BusThreads threads;
    private final long intervalNanos;
    private final Runnable action;
    private boolean ran;
    private long ranAtNanos;

    /** Deadline of the next run; null unless it was requested. */
    private @Nullable BusWatch due;

    /**
     * Creates an action that has not run.
     *
     * @param threads of the bus
     */
    public PacedAction(BusThreads threads, long intervalNanos, Runnable action) {
        this.threads = threads;
        this.intervalNanos = intervalNanos;
        this.action = action;
    }

    /** Runs it now, or at the end of the interval. */
    public void request() {
        if (due != null) {
            return;
        }
        if (!ran || System.nanoTime() - ranAtNanos >= intervalNanos || threads.ending()) {
            run();
            return;
        }
        BusWatch watch = threads.loop().join(new Due());
        watch.setDeadline(ranAtNanos + intervalNanos);
        due = watch;
    }

    private void run() {
        ran = true;
        ranAtNanos = System.nanoTime();
        action.run();
    }

    /** Handler of the deadline. */
    private final class Due implements BusLoop.Handler {
        @Override
        public void onEvents(int events) {
            // It has no descriptor.
        }

        @Override
        public void onDeadline() {
            BusWatch watch = due;
            if (watch != null) {
                due = null;
                watch.end();
                run();
            }
        }

        @Override
        public void onShutdown() {
            due = null; // the links end, too
        }
    }
}
