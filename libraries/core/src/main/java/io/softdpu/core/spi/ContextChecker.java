package io.softdpu.core.spi;

import io.softdpu.core.internal.sanitizer.CompletionShuffler;
import io.softdpu.core.internal.sanitizer.Mistake;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Sanitizer checks of one context: the tasks that the user has. The engine's thread. */
final class ContextChecker {
    private final CompletionShuffler shuffler;
    private final Set<TaskChecker> handedOut = new LinkedHashSet<>();
    private long submissions;

    ContextChecker(CompletionShuffler shuffler) {
        this.shuffler = shuffler;
    }

    CompletionShuffler shuffler() {
        return shuffler;
    }

    long nextSubmission() {
        return ++submissions;
    }

    void handedOut(TaskChecker task) {
        handedOut.add(task);
    }

    void freed(TaskChecker task) {
        handedOut.remove(task);
    }

    /**
     * Stack trace of the allocation of a task that was not freed, one that is not in flight if
     * there is one; null if all are freed.
     */
    @Nullable Throwable oldestAllocation() {
        TaskChecker oldest = null;
        for (TaskChecker task : handedOut) {
            if (task.isWithUser()) {
                return task.allocatedAt();
            }
            if (oldest == null) {
                oldest = task;
            }
        }
        return oldest == null ? null : oldest.allocatedAt();
    }

    /** Stack trace of the oldest allocation of a pool's tasks; null if all are freed. */
    @Nullable Throwable oldestAllocation(TaskPool<?> pool) {
        for (TaskChecker task : handedOut) {
            if (task.isOf(pool)) {
                return task.allocatedAt();
            }
        }
        return null;
    }

    /** Reports the misuse of a buffer that is not that of a task. */
    void bufMisused(String message) {
        shuffler.sanitizer().report(Mistake.BUF_MISUSED, message, null);
    }

    /** Reports tasks that were not freed before the close, once each. */
    void reportLeaks() {
        for (TaskChecker task : new ArrayList<>(handedOut)) {
            task.report(Mistake.TASK_LEAKED, "task was not freed before the end");
        }
        handedOut.clear();
    }
}
