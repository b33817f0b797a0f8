package io.softdpu.core.internal.sanitizer;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Sanitizer of the completions of one engine: delays them for a few passes and delivers them in a
 * random order. The engine's thread.
 *
 * <p>A program that waits for a completion calls progress, and each pass delivers those that were
 * delayed for the maximum of passes, so nothing stalls. The engine counts a pass with delayed
 * completions as one with work, and does not sleep before all are delivered.
 */
public final class CompletionShuffler {
    /** Limit of the passes that a completion is delayed for, exclusive. */
    private static final int MAX_PASSES = 3;

    /** The same for one that may wait for a later completion. */
    private static final int MAX_WAITING_PASSES = 8;

    /** One in this many submissions is refused with AGAIN. */
    private static final int ONE_IN_REFUSED = 6;

    private final SanitizerState sanitizer;
    private final SplittableRandom random;
    private final List<DelayedCompletion> delayed = new ArrayList<>();
    private boolean mustNotSleep;

    private CompletionShuffler(SanitizerState sanitizer) {
        this.sanitizer = sanitizer;
        this.random = sanitizer.newSequence();
    }

    /** The shuffler for an object that is created now; null if no sanitizer is on. */
    public static @Nullable CompletionShuffler ofCurrent() {
        SanitizerState on = SanitizerState.current();
        return on == null ? null : new CompletionShuffler(on);
    }

    /** The sanitizer that it belongs to. */
    public SanitizerState sanitizer() {
        return sanitizer;
    }

    /** Whether to refuse a submission with AGAIN; random. */
    public boolean refuses() {
        return random.nextInt(ONE_IN_REFUSED) == 0;
    }

    /** A random index below the count. */
    public int oneOf(int count) {
        return random.nextInt(count);
    }

    /** Delays the completion of a task. */
    public void delay(DelayedCompletion task) {
        task.passes = 0;
        task.delivered = false;
        delayed.add(task);
    }

    /** Whether the engine must not sleep: delivered completions may cause more work. */
    public boolean mustNotSleep() {
        return mustNotSleep || !delayed.isEmpty();
    }

    /**
     * Delivers some; called inside progress, at the end of a pass.
     *
     * @return whether any were delayed
     */
    public boolean deliver() {
        mustNotSleep = !delayed.isEmpty();
        if (!mustNotSleep) {
            return false;
        }
        List<DelayedCompletion> candidates = shuffled();
        for (DelayedCompletion candidate : candidates) {
            candidate.passes++;
        }
        for (DelayedCompletion candidate : candidates) {
            if (!candidate.delivered && isDue(candidate)) {
                deliver(oldestInOrder(candidate));
            }
        }
        return true;
    }

    private List<DelayedCompletion> shuffled() {
        List<DelayedCompletion> all = new ArrayList<>(delayed);
        for (int i = all.size() - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            DelayedCompletion swapped = all.get(i);
            all.set(i, all.get(j));
            all.set(j, swapped);
        }
        return all;
    }

    private boolean isDue(DelayedCompletion task) {
        if (task.mayWait()) {
            return task.passes >= MAX_WAITING_PASSES;
        }
        return task.passes >= MAX_PASSES || random.nextBoolean();
    }

    private DelayedCompletion oldestInOrder(DelayedCompletion task) {
        Object key = task.orderKey();
        if (key == null) {
            return task;
        }
        for (DelayedCompletion each : delayed) {
            if (Objects.equals(each.orderKey(), key)) {
                return each;
            }
        }
        return task;
    }

    private void deliver(DelayedCompletion task) {
        if (!task.mayWait()) {
            for (DelayedCompletion each : delayed) {
                if (each.mayWait()
                        && each.group().equals(task.group())
                        && each.sequence() < task.sequence()) {
                    each.passes = MAX_WAITING_PASSES; // the completion that it waited for has come
                }
            }
        }
        delayed.remove(task);
        task.delivered = true;
        task.deliver();
    }
}
