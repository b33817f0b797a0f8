package io.softdpu.rdma.roce.cm;

import io.softdpu.rdma.roce.wire.CmMessage;
import org.jspecify.annotations.Nullable;

/**
 * Times of a connection: of the next repeat of its message, and of the end of its wait. The earlier
 * one is its deadline in {@link Timers}.
 */
final class CmTimer {
    private final CmConnection connection;
    private final Timers timers;
    private final CmLimits limits;

    /** The message that is sent again at {@link #repeatAt}; null if none is. */
    private @Nullable CmMessage repeated;

    private long repeatAt;
    private long repeatNanos;
    private boolean limited;
    private long end;

    // Of Timers.
    long deadline;
    int index = -1;

    CmTimer(CmConnection connection, Timers timers, CmLimits limits) {
        this.connection = connection;
        this.timers = timers;
        this.limits = limits;
    }

    CmConnection connection() {
        return connection;
    }

    /** Ends the wait after a time. */
    void limit(long nowNanos, long nanos) {
        limited = true;
        end = nowNanos + nanos;
        set();
    }

    /** Repeats a message from now on, when {@link #due} is called next. */
    void repeat(CmMessage message, long nowNanos) {
        repeated = message;
        repeatAt = nowNanos;
        repeatNanos = limits.firstRepeatNanos();
        set();
    }

    /** Repeats the message when {@link #due} is called next. */
    void repeatNow(long nowNanos) {
        repeatAt = nowNanos;
        set();
    }

    /** Repeats the message not before a time has passed. */
    void postpone(long nowNanos, long nanos) {
        long later = nowNanos + nanos;
        if (later - repeatAt > 0) {
            repeatAt = later;
            set();
        }
    }

    /** Repeats no more. */
    void stopRepeating() {
        repeated = null;
        set();
    }

    /** Neither repeats nor ends a wait. */
    void clear() {
        limited = false;
        stopRepeating();
    }

    /** Whether the wait is over. */
    boolean isOver(long nowNanos) {
        return limited && nowNanos - end >= 0;
    }

    /** The message if it is to be sent now; sets the time of its next repeat. */
    @Nullable CmMessage due(long nowNanos) {
        CmMessage message = repeated;
        if (message == null || nowNanos - repeatAt < 0) {
            return null;
        }
        repeatAt = nowNanos + repeatNanos;
        repeatNanos = Math.min(2 * repeatNanos, limits.lastRepeatNanos());
        set();
        return message;
    }

    private void set() {
        if (repeated != null) {
            timers.set(this, limited && end - repeatAt < 0 ? end : repeatAt);
        } else if (limited) {
            timers.set(this, end);
        } else {
            timers.cancel(this);
        }
    }
}
