package io.softdpu.core.graph;

import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/**
 * Callback of a user node; runs inside {@code ProgressEngine.progress()} or {@code
 * WorkQueue.progressRetrieve()}.
 *
 * <p>It may set up the tasks and jobs of nodes that have not started, compare results, and submit
 * what belongs to no graph. An exception fails the node with UNEXPECTED and is thrown by the
 * progress.
 */
@FunctionalInterface
public interface UserNodeCallback {
    /**
     * Runs the node.
     *
     * @param object the object of the instance for this node; null if it has none
     * @return SUCCESS, or the failure of the node
     */
    Status run(@Nullable Object object);
}
