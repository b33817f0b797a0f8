package io.softdpu.core.spi;

import io.softdpu.core.internal.sanitizer.CompletionShuffler;
import io.softdpu.core.internal.sanitizer.Mistake;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Set;

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

    /** Reports tasks that were not freed before the close, once each. */
    void reportLeaks() {
        for (TaskChecker task : new ArrayList<>(handedOut)) {
            task.report(Mistake.TASK_LEAKED, "task was not freed before the end");
        }
        handedOut.clear();
    }
}
