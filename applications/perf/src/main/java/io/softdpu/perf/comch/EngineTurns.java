package io.softdpu.perf.comch;

import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.execution.ProgressEngine;

/**
 * Rounds of an engine as a plan says to wait. With {@link PerfWait#BUSY} the thread yields after
 * some unsuccessful polls if the polling threads have fewer processors than they are: the peer
 * could not run otherwise before the end of a time slice. Belongs to the engine's thread.
 */
final class EngineTurns {
    /** Unsuccessful polls, of some ten nanoseconds each, before a yield, which takes longer. */
    private static final int POLLS_PER_YIELD = 64;

    private final ProgressEngine engine;
    private final PerfWait waiting;
    private final boolean yields;
    private int idlePolls;

    EngineTurns(PerfPlan plan, ProgressEngine engine) {
        this(plan, engine, CpuBinding.availableProcessors());
    }

    EngineTurns(PerfPlan plan, ProgressEngine engine, int processors) {
        this.engine = engine;
        waiting = plan.waiting();
        yields = waiting == PerfWait.BUSY && plan.pollers() > plan.processors(processors);
    }

    /** Whether it yields after unsuccessful polls. */
    boolean yields() {
        return yields;
    }

    /** One round; whether anything was done. */
    @SuppressWarnings("ThreadPriorityCheck") // the scheduler is what the threads share
    boolean turn() {
        if (waiting.turn(engine, PerfSide.TURN_NANOS)) {
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
