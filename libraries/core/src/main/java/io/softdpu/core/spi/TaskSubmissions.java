package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Task;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Submission of several tasks of a context at a time. The engine's thread. */
final class TaskSubmissions {
    private final ContextEngine engine;

    /** Tasks of the present submission that the library has accepted. */
    private int accepted;

    TaskSubmissions(ContextEngine engine) {
        this.engine = engine;
    }

    /** See {@code Context.trySubmitAll}. */
    int trySubmitAll(Task[] tasks, int from, int to) {
        engine.requireOwner();
        requireOwn(tasks, from, to);
        if (from == to) {
            return 0;
        }
        if (!engine.takesTasks()) {
            ((TaskBase<?>) tasks[from]).keep(engine.notRunning());
            return 0;
        }
        if (engine.checker() != null) {
            return trySubmitEach(tasks, from, to);
        }
        int taken = from;
        while (taken < to && ((TaskBase<?>) tasks[taken]).takeFromUser()) {
            taken++;
        }
        accepted = 0;
        @Nullable Refusal refusal = null;
        try {
            refusal = engine.context().onSubmitAll(tasks, from, taken);
        } finally {
            for (int i = from + accepted; i < taken; i++) {
                ((TaskBase<?>) tasks[i]).returnToUser();
            }
            if (accepted > 0) {
                engine.tasksSubmitted(accepted);
            } else {
                engine.workAdded();
            }
        }
        int end = from + accepted;
        if (end < to) {
            TaskBase<?> refused = (TaskBase<?>) tasks[end];
            refused.keep(
                    end == taken
                            ? refused.notTheUsers()
                            : Objects.requireNonNull(refusal, "a library gives the reason"));
        }
        return accepted;
    }

    /** Counts tasks that the library has accepted, the next ones in order. */
    void accepted(int count) {
        accepted += count;
    }

    /** The same with a sanitizer, which checks each submission by itself. */
    private static int trySubmitEach(Task[] tasks, int from, int to) {
        for (int i = from; i < to; i++) {
            if (tasks[i].trySubmit() != Status.SUCCESS) {
                return i - from;
            }
        }
        return to - from;
    }

    private void requireOwn(Task[] tasks, int from, int to) {
        Arguments.notNull(tasks, "tasks");
        if (from < 0 || to < from || to > tasks.length) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "range is not within the array: from=%d, to=%d, elements=%d",
                            from, to, tasks.length));
        }
        for (int i = from; i < to; i++) {
            if (!(tasks[i] instanceof TaskBase<?> task) || task.engine() != engine) {
                throw notOwn(tasks[i], i);
            }
        }
    }

    private DpuException notOwn(Task task, int index) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "not a task of this context: index=%d, %s, expected=a task of %s",
                        index,
                        task instanceof TaskBase<?> base ? base.describe() : "task=" + task,
                        engine.context()));
    }
}
