package io.softdpu.core.internal.wait;

import io.softdpu.fabric.engine.ThreadAffinity;
import io.softdpu.fabric.error.FabricException;

/**
 * Soft CPU affinity: unpins the thread when repeated slow yields show contention, and pins it again
 * after a calm period. While it is unpinned the kernel schedules it on any processor.
 *
 * <p>With three pollers on two processors this gains a fifth of the throughput: the two that
 * exchange most messages share a processor, and the third has the other. With hard affinity one
 * competing thread costs nearly all of the throughput.
 *
 * <p>Belongs to the thread that is pinned. Pinning and unpinning make system calls and allocate;
 * nothing else does.
 */
public final class SoftAffinity implements AffinityPolicy {
    /**
     * Slow yields that unpin it: in one window, or with few quick ones between them, independent of
     * time. Three pollers alone on two processors had 0 to 2 per window; a pinned poller with a
     * competitor 10 to 25, and for a thread that rarely yields nearly every yield is slow then.
     */
    static final int MAX_SLOW_YIELDS = 8;

    /**
     * Quick yields after which a slow one counts as the first again. Between two slow ones there
     * are thousands of waits where nothing competes, and most of them may end in a spin ({@link
     * ShortSpin#SPINS_PER_YIELD}).
     */
    static final int QUICK_YIELDS_BETWEEN = 125;

    /** Period in which slow yields are counted. */
    static final long WINDOW_NANOS = 100_000_000;

    /** Most slow yields of a calm window: beside a competitor there are 2 to 7. */
    static final int CALM_SLOW_YIELDS = 1;

    /** Minimum of yields for a window to count: one spent asleep shows nothing. */
    static final int MIN_WINDOW_YIELDS = 100;

    /**
     * Calm windows in a row that pin it again. Calm on another processor does not show that its own
     * is calm, so beside a lasting competitor it is pinned without success once per second and for
     * about a twentieth of it.
     */
    static final int CALM_WINDOWS = 10;

    private static final System.Logger LOG = System.getLogger(SoftAffinity.class.getName());

    /** Pins the calling thread, and unpins it. */
    interface Pinning {
        void pin();

        void unpin();
    }

    private final Pinning pinning;
    private boolean unpinned;
    private boolean disabled;
    private int slowYields;
    private int quickYields;
    private long windowBegin;
    private int windowYields;
    private int windowSlow;
    private int calmWindows;

    SoftAffinity(Pinning pinning, long nowNanos) {
        this.pinning = pinning;
        this.windowBegin = nowNanos;
    }

    /** The affinity of the calling thread, which is pinned already. */
    public static SoftAffinity ofCurrentThread(int core) {
        Pinning pinning =
                new Pinning() {
                    @Override
                    public void pin() {
                        ThreadAffinity.pinCurrentThread(core);
                    }

                    @Override
                    public void unpin() {
                        ThreadAffinity.unpinCurrentThread();
                    }
                };
        return new SoftAffinity(pinning, System.nanoTime());
    }

    @Override
    public void yielded(long nowNanos, boolean slow) {
        windowYields++;
        if (slow) {
            windowSlow++;
            slowYields = quickYields < QUICK_YIELDS_BETWEEN ? slowYields + 1 : 1;
            quickYields = 0;
            if (!unpinned && (slowYields >= MAX_SLOW_YIELDS || windowSlow >= MAX_SLOW_YIELDS)) {
                becomeUnpinned(nowNanos);
            }
        } else {
            if (quickYields < QUICK_YIELDS_BETWEEN) {
                quickYields++;
            }
            if (nowNanos - windowBegin >= WINDOW_NANOS) {
                endWindow(nowNanos);
            }
        }
    }

    /** Unpins the thread; it is not pinned again. */
    @Override
    public void close() {
        disabled = true;
        if (!unpinned) {
            unpinned = unpin();
        }
    }

    private void endWindow(long nowNanos) {
        if (windowSlow > CALM_SLOW_YIELDS) {
            calmWindows = 0;
        } else if (windowYields >= MIN_WINDOW_YIELDS) {
            calmWindows++;
        }
        beginWindow(nowNanos);
        if (unpinned && calmWindows >= CALM_WINDOWS && !disabled) {
            becomePinned();
        }
    }

    private void beginWindow(long nowNanos) {
        windowBegin = nowNanos;
        windowYields = 0;
        windowSlow = 0;
    }

    private void becomeUnpinned(long nowNanos) {
        slowYields = 0;
        beginWindow(nowNanos);
        if (!unpin()) {
            return;
        }
        unpinned = true;
        calmWindows = 0;
    }

    private boolean unpin() {
        try {
            pinning.unpin();
            return true;
        } catch (FabricException e) { // the processors of the process were changed concurrently
            LOG.log(System.Logger.Level.WARNING, "thread stays pinned for now", e);
            return false;
        }
    }

    private void becomePinned() {
        try {
            pinning.pin();
            unpinned = false;
            slowYields = 0;
        } catch (FabricException e) {
            disabled = true;
            LOG.log(System.Logger.Level.WARNING, "processor was taken from this program", e);
        }
    }
}
