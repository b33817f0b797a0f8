package io.softdpu.perf.comch;

import io.softdpu.core.execution.ProgressEngine;
import java.util.Locale;

/** How both sides wait while there is nothing to do. */
public enum PerfWait {
    /** They never stop looking: best with a core for each. */
    BUSY {
        @Override
        boolean turn(ProgressEngine engine, long timeoutNanos) {
            return engine.progress();
        }

        @Override
        int turnsACheck() {
            return 1024;
        }
    },
    /** They look for a while, then sleep: what the storage roles do. */
    ADAPTIVE {
        @Override
        boolean turn(ProgressEngine engine, long timeoutNanos) {
            return engine.await(timeoutNanos);
        }
    },
    /** They sleep at once. */
    EVENT {
        @Override
        boolean turn(ProgressEngine engine, long timeoutNanos) {
            if (engine.progress()) {
                return true;
            }
            engine.requestNotification();
            engine.awaitNotification(timeoutNanos);
            engine.clearNotification();
            return engine.progress();
        }
    };

    /** The word for it on command lines and in results. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Does what there is to do, or waits for it at most this long; whether anything was done. */
    abstract boolean turn(ProgressEngine engine, long timeoutNanos);

    /**
     * After how many turns in vain a ping looks whether the other side is still there: a turn that
     * does not wait takes less time than that look, and the answer may come meanwhile.
     */
    int turnsACheck() {
        return 1;
    }
}
