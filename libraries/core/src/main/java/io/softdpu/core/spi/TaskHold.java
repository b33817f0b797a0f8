package io.softdpu.core.spi;

import io.softdpu.core.Status;
import io.softdpu.core.execution.SubmitFlags;
import io.softdpu.core.spi.graph.HoldingNode;
import org.jspecify.annotations.Nullable;

/**
 * Hold of a graph's node on a task, with the sanitizer's checker, if the task has one. The engine's
 * thread.
 */
final class TaskHold implements TaskInterceptor {
    private final TaskBase<?> task;
    private final HoldingNode node;
    private final @Nullable TaskInterceptor checker;

    TaskHold(TaskBase<?> task, HoldingNode node, @Nullable TaskInterceptor checker) {
        this.task = task;
        this.node = node;
        this.checker = checker;
    }

    HoldingNode node() {
        return node;
    }

    @Nullable TaskInterceptor checker() {
        return checker;
    }

    @Override
    public void handedOut() {
        throw new IllegalStateException("allocated a task that a node holds: " + task.describe());
    }

    @Override
    public void freed() {
        throw new IllegalStateException("freed a task that a node holds: " + task.describe());
    }

    @Override
    public void misused(String what) {
        if (checker != null) {
            checker.misused(what + ", " + node.describe());
        }
    }

    @Override
    public boolean refuses() {
        return checker != null && checker.refuses();
    }

    @Override
    public void submitted(SubmitFlags flags) {
        if (checker != null) {
            checker.submitted(flags);
        }
    }

    @Override
    public void refused() {
        if (checker != null) {
            checker.refused();
        }
    }

    @Override
    public void completed(Status ended) {
        if (checker != null) {
            checker.completed(ended);
        } else {
            task.deliverToNode(ended);
        }
    }

    @Override
    public void completedWithOthers(Status ended) {
        if (checker != null) {
            checker.completed(ended);
        } else {
            task.returnToNode(ended);
            node.endedWithOthers(ended);
        }
    }
}
