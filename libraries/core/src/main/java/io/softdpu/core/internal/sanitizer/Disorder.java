package io.softdpu.core.internal.sanitizer;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * What a sanitizer does to the completions of one engine: holds them for a pass or a few, and lets
 * them go in another order. The engine's thread.
 *
 * <p>Whoever waits for a completion has to make progress, and each pass of progress lets go of what
 * has been held for long: nothing stalls. The engine counts a pass with something held as one that
 * did something, and does not sleep before all are delivered.
 */
public final class Disorder {
    /** A completion is held for fewer passes than this. */
    private static final int MAX_PASSES = 3;

    /** One that may wait for a later one, and none comes. */
    private static final int MAX_PASSES_OF_WAITING = 8;

    /** One of so many submissions is answered with AGAIN. */
    private static final int ONE_IN_REFUSED = 6;

    private final SanitizerCore sanitizer;
    private final SplittableRandom random;
    private final List<HeldTask> held = new ArrayList<>();
    private boolean restless;

    private Disorder(SanitizerCore sanitizer) {
        this.sanitizer = sanitizer;
        this.random = sanitizer.newSequence();
    }

    /** The disorder of something that is created now; null where no sanitizer is on. */
    public static @Nullable Disorder ofCurrent() {
        SanitizerCore on = SanitizerCore.current();
        return on == null ? null : new Disorder(on);
    }

    /** Whose it is. */
    public SanitizerCore sanitizer() {
        return sanitizer;
    }

    /** Whether to answer a submission with AGAIN. */
    public boolean refuses() {
        return random.nextInt(ONE_IN_REFUSED) == 0;
    }

    /** One of these. */
    public int oneOf(int count) {
        return random.nextInt(count);
    }

    /** Takes a task that is done. */
    public void hold(HeldTask task) {
        task.passes = 0;
        task.delivered = false;
        held.add(task);
    }

    /** Whether the engine must not sleep: what was let go may bring more. */
    public boolean restless() {
        return restless || !held.isEmpty();
    }

    /**
     * Lets go of some; at the end of a pass of progress, inside it.
     *
     * @return whether there were any
     */
    public boolean deliver() {
        restless = !held.isEmpty();
        if (!restless) {
            return false;
        }
        List<HeldTask> candidates = shuffled();
        for (HeldTask candidate : candidates) {
            candidate.passes++;
        }
        for (HeldTask candidate : candidates) {
            if (!candidate.delivered && goes(candidate)) {
                deliver(oldestLike(candidate));
            }
        }
        return true;
    }

    private List<HeldTask> shuffled() {
        List<HeldTask> all = new ArrayList<>(held);
        for (int i = all.size() - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            HeldTask swapped = all.get(i);
            all.set(i, all.get(j));
            all.set(j, swapped);
        }
        return all;
    }

    private boolean goes(HeldTask task) {
        if (task.mayWait()) {
            return task.passes >= MAX_PASSES_OF_WAITING;
        }
        return task.passes >= MAX_PASSES || random.nextBoolean();
    }

    private HeldTask oldestLike(HeldTask task) {
        Object key = task.orderKey();
        if (key == null) {
            return task;
        }
        for (HeldTask each : held) {
            if (Objects.equals(each.orderKey(), key)) {
                return each;
            }
        }
        return task;
    }

    private void deliver(HeldTask task) {
        if (!task.mayWait()) {
            for (HeldTask each : held) {
                if (each.mayWait()
                        && each.group().equals(task.group())
                        && each.sequence() < task.sequence()) {
                    each.passes = MAX_PASSES_OF_WAITING; // what it waited for has come
                }
            }
        }
        held.remove(task);
        task.delivered = true;
        task.deliver();
    }
}
