package io.softdpu.perf.pair;

import io.softdpu.core.execution.ProgressEngine;
import java.time.Duration;

/**
 * Rounds of an engine in one way of waiting. With {@link PerfWait#BUSY} the thread yields after
 * some unsuccessful polls if the polling threads have fewer processors than they are: the peer
 * could not run otherwise before the end of a time slice. Belongs to the engine's thread.
 */
public final class EngineTurns {
    /**
     * Time limit of one wait in the engine; an event ends it earlier. One object for all: each that
     * is made for a wait counts as an allocation of an operation until the wait is compiled.
     */
    public static final Duration TURN = Duration.ofMillis(100);

    /** Unsuccessful polls, of some ten nanoseconds each, before a yield, which takes longer. */
    private static final int POLLS_PER_YIELD = 64;

    private final ProgressEngine engine;
    private final PerfWait waiting;
    private final boolean yields;
    private int idlePolls;

    /**
     * Rounds that have not begun.
     *
     * @param pollers number of threads that wait for each other
     * @param processors number of processors that they may use
     */
    public EngineTurns(ProgressEngine engine, PerfWait waiting, int pollers, int processors) {
        this.engine = engine;
        this.waiting = waiting;
        yields = waiting == PerfWait.BUSY && pollers > processors;
    }

    /** Whether it yields after unsuccessful polls. */
    public boolean yields() {
        return yields;
    }

    /** One round; whether anything was done. */
    @SuppressWarnings("ThreadPriorityCheck") // the scheduler is what the threads share
    public boolean turn() {
        if (waiting.turn(engine, TURN)) {
            idlePolls = 0;
            return true;
        }
        if (yields && ++idlePolls >= POLLS_PER_YIELD) {
            idlePolls = 0;
            Thread.yield();
        }
        return false;
    }
}
