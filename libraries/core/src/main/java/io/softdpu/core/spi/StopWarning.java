package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/**
 * Warning of a context that stays STOPPING: one line of the log, {@linkplain
 * ContextBase#stopWarningNanos some time} after the stop began, with what keeps it so. The engine's
 * thread.
 *
 * <p>Each progress in STOPPING compares the time. An engine that is about to sleep gets a timer, so
 * a context that stops before its engine sleeps has none.
 */
final class StopWarning {
    private static final System.Logger LOG = System.getLogger(Context.class.getName());

    private final ContextStates states;
    private final ContextEngine engine;
    private @Nullable EngineTimer timer;
    private long beginNanos;
    private long delayNanos;
    private boolean due;

    StopWarning(ContextStates states, ContextEngine engine) {
        this.states = states;
        this.engine = engine;
    }

    /** The stop begins. */
    void stopping() {
        beginNanos = System.nanoTime();
        delayNanos = engine.context().stopWarningNanos();
        due = delayNanos < Long.MAX_VALUE;
    }

    /** The stop has ended. */
    void ended() {
        due = false;
        if (timer != null) {
            timer.cancel();
        }
    }

    /** Logs the warning if it is time; inside progress, in STOPPING. */
    void check() {
        if (!due) {
            return;
        }
        long waitedNanos = System.nanoTime() - beginNanos;
        if (waitedNanos < delayNanos) {
            return;
        }
        due = false;
        LOG.log(
                System.Logger.Level.WARNING,
                Text.format(
                        "context does not stop: waitedMillis=%d, %s",
                        waitedNanos / 1_000_000, states.describe()),
                engine.oldestAllocation());
    }

    /** Makes a sleep of the engine end in time. */
    void arm() {
        if (!due || (timer != null && timer.isSet())) {
            return;
        }
        try {
            if (timer == null) {
                timer = engine.services().timer(this::check);
            }
            timer.setAt(beginNanos + delayNanos);
        } catch (DpuException e) { // no descriptor is left: a later progress logs the warning
            LOG.log(System.Logger.Level.DEBUG, "no timer for a warning: reason=" + Reason.of(e), e);
        }
    }
}
