package io.softdpu.storage.worker;

import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Contexts of a worker and their allocated tasks. Belongs to the worker's thread. */
final class ContextSet {
    private final List<Context> contexts = new ArrayList<>();
    private final List<Task> tasks = new ArrayList<>();
    private boolean stopping;

    void add(Context context) {
        contexts.add(context);
    }

    void add(Task task) {
        tasks.add(task);
    }

    /** Whether all are in this state. */
    boolean areAll(ContextState state) {
        for (Context context : contexts) {
            if (context.state() != state) {
                return false;
            }
        }
        return true;
    }

    /** The contexts in other states, with their state, for a message. */
    String notIn(ContextState state) {
        return contexts.stream()
                .filter(context -> context.state() != state)
                .map(context -> context + " " + context.state())
                .collect(Collectors.joining(" and "));
    }

    /** Whether {@link #stop} was called. */
    boolean isStopping() {
        return stopping;
    }

    /** Begins to stop all; they become idle after {@link #freeTasks}. */
    void stop() {
        stopping = true;
        contexts.forEach(Context::stop);
    }

    /**
     * Frees all tasks of stopping contexts once none is in flight: a context is not idle before its
     * tasks are freed, and a task cannot be freed before it was flushed.
     */
    void freeTasks() {
        if (!stopping) {
            return;
        }
        for (Context context : contexts) {
            if (context.inFlightTasks() > 0) {
                return;
            }
        }
        tasks.forEach(Task::free);
        tasks.clear();
    }

    /** Closes all contexts, which have to be idle. */
    void close() {
        Closeables.inOrder(contexts.toArray(AutoCloseable[]::new));
    }
}
