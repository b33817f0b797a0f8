package io.softdpu.perf.pair;

import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.perf.text.Word;
import java.time.Duration;

/** Way of waiting on both sides while there is nothing to do. */
public enum PerfWait implements Word {
    /** They never stop looking: best with a core for each. */
    BUSY {
        @Override
        public boolean turn(ProgressEngine engine, Duration timeout) {
            return engine.progress();
        }

        @Override
        public int turnsPerCheck() {
            return 1024;
        }
    },
    /** They look for a while, then sleep: what the storage roles do. */
    ADAPTIVE {
        @Override
        public boolean turn(ProgressEngine engine, Duration timeout) {
            return engine.await(timeout);
        }
    },
    /** They sleep at once. */
    EVENT {
        @Override
        public boolean turn(ProgressEngine engine, Duration timeout) {
            if (engine.progress()) {
                return true;
            }
            engine.requestNotification();
            engine.awaitNotification(timeout);
            engine.clearNotification();
            return engine.progress();
        }
    };

    /** Makes progress, or waits for work for at most this long; true if there was work. */
    public abstract boolean turn(ProgressEngine engine, Duration timeout);

    /**
     * Number of idle iterations after which a ping checks that the peer is alive: an iteration that
     * does not wait takes less time than that check, and the reply may arrive meanwhile.
     */
    public int turnsPerCheck() {
        return 1;
    }
}
