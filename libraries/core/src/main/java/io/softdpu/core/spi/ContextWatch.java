package io.softdpu.core.spi;

import io.softdpu.core.internal.sanitizer.Disorder;
import io.softdpu.core.internal.sanitizer.Mistake;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Set;

/** What a sanitizer knows of a context: which of its tasks the user has. The engine's thread. */
final class ContextWatch {
    private final Disorder disorder;
    private final Set<TaskWatch> handedOut = new LinkedHashSet<>();
    private long submissions;

    ContextWatch(Disorder disorder) {
        this.disorder = disorder;
    }

    Disorder disorder() {
        return disorder;
    }

    long nextSubmission() {
        return ++submissions;
    }

    void handedOut(TaskWatch task) {
        handedOut.add(task);
    }

    void freed(TaskWatch task) {
        handedOut.remove(task);
    }

    /** The context ends, and the user still has some: each is reported once. */
    void reportLeaks() {
        for (TaskWatch task : new ArrayList<>(handedOut)) {
            task.report(Mistake.TASK_LEAKED, "task was not freed before the end");
        }
        handedOut.clear();
    }
}
