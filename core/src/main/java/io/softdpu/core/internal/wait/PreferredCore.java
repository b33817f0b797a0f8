package io.softdpu.core.internal.wait;

import io.softdpu.fabric.engine.ThreadAffinity;
import io.softdpu.fabric.error.FabricException;

/**
 * The processor that an engine's thread is bound to until somebody else computes there, which slow
 * yields tell that follow upon each other. Away from it the system puts the thread where there is
 * room, and it comes back when slow yields have become few.
 *
 * <p>With three pollers on two processors this is worth a fifth of the operations: those that talk
 * most to each other stay together, and the third has a processor of its own. Bound for good they
 * lose nearly all of them to the first competitor.
 *
 * <p>Belongs to the thread that is bound. Moving makes system calls and allocates; nothing else
 * does.
 */
public final class PreferredCore implements WaitStrategy.Seat {
    /**
     * Slow yields that make it leave: in one window, or with few quick ones between them, however
     * long that takes. Three pollers on two processors with nobody else saw 0 to 2 in a window, and
     * thousands of quick ones between two; one that was bound beside a competitor 10 to 25, and who
     * seldom yields there finds nearly each yield slow.
     */
    static final int TOO_MANY = 8;

    /** Quick yields after which a slow one counts as the first again. */
    static final int QUICK_IN_BETWEEN = 1000;

    /** What slow yields are counted in. */
    static final long WINDOW_NANOS = 100_000_000;

    /**
     * Slow yields that a window may have to count as calm: beside a competitor there are 2 to 7.
     */
    static final int FEW = 1;

    /** Yields that a window has to have to count at all: one that was slept away tells nothing. */
    static final int ENOUGH = 100;

    /** So many calm windows in a row, and it comes back; with fewer, chance would bring it back. */
    static final int CALM_WINDOWS = 3;

    /**
     * The most that are asked for, twice as many after each short stay: what is calm where the
     * thread has gone says nothing of where it comes from.
     */
    static final int MOST_CALM_WINDOWS = 32;

    /** A stay that was not short. */
    static final long LONG_STAY_NANOS = 500_000_000;

    private static final System.Logger LOG = System.getLogger(PreferredCore.class.getName());

    /** Binds the calling thread, and lets it go. */
    interface Binder {
        void bind();

        void letGo();
    }

    private final Binder binder;
    private boolean away;
    private boolean lost;
    private long changedNanos;
    private int strikes;
    private int quickYields;
    private long windowBegin;
    private int windowYields;
    private int windowSlow;
    private int calmWindows;
    private int calmWindowsNeeded = CALM_WINDOWS;

    PreferredCore(Binder binder, long nowNanos) {
        this.binder = binder;
        this.changedNanos = nowNanos - LONG_STAY_NANOS; // the first stay may be short
        this.windowBegin = nowNanos;
    }

    /** Of the calling thread, which is bound to it already. */
    public static PreferredCore ofCurrentThread(int core) {
        Binder binder =
                new Binder() {
                    @Override
                    public void bind() {
                        ThreadAffinity.pinCurrentThread(core);
                    }

                    @Override
                    public void letGo() {
                        ThreadAffinity.unpinCurrentThread();
                    }
                };
        return new PreferredCore(binder, System.nanoTime());
    }

    @Override
    public void yielded(long nowNanos, boolean slow) {
        windowYields++;
        if (slow) {
            windowSlow++;
            strikes = quickYields < QUICK_IN_BETWEEN ? strikes + 1 : 1;
            quickYields = 0;
            if (!away && (strikes >= TOO_MANY || windowSlow >= TOO_MANY)) {
                leave(nowNanos);
            }
        } else {
            if (quickYields < QUICK_IN_BETWEEN) {
                quickYields++;
            }
            if (nowNanos - windowBegin >= WINDOW_NANOS) {
                endWindow(nowNanos);
            }
        }
    }

    /** Lets the thread go for good. */
    @Override
    public void close() {
        lost = true;
        if (!away) {
            letGo();
        }
    }

    private void endWindow(long nowNanos) {
        if (windowSlow > FEW) {
            calmWindows = 0;
        } else if (windowYields >= ENOUGH) {
            calmWindows++;
        }
        beginWindow(nowNanos);
        if (away && calmWindows >= calmWindowsNeeded && !lost) {
            comeBack(nowNanos);
        }
    }

    private void beginWindow(long nowNanos) {
        windowBegin = nowNanos;
        windowYields = 0;
        windowSlow = 0;
    }

    private void leave(long nowNanos) {
        strikes = 0;
        beginWindow(nowNanos);
        if (!letGo()) {
            return;
        }
        boolean shortStay = nowNanos - changedNanos < LONG_STAY_NANOS;
        calmWindowsNeeded =
                shortStay ? Math.min(2 * calmWindowsNeeded, MOST_CALM_WINDOWS) : CALM_WINDOWS;
        away = true;
        changedNanos = nowNanos;
        calmWindows = 0;
    }

    private boolean letGo() {
        try {
            binder.letGo();
            return true;
        } catch (FabricException e) { // the processors of the program were changed this very moment
            LOG.log(System.Logger.Level.WARNING, "thread stays bound for now", e);
            return false;
        }
    }

    private void comeBack(long nowNanos) {
        try {
            binder.bind();
            away = false;
            changedNanos = nowNanos;
            strikes = 0;
        } catch (FabricException e) {
            lost = true;
            LOG.log(System.Logger.Level.WARNING, "processor was taken from this program", e);
        }
    }
}
