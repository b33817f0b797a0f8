package io.softdpu.core.graph;

import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/**
 * Callback of a user node. A root, which has no parents, runs inside the submission of its instance
 * (Core guide, core-282), also as the root of a sub-graph that is a root; any other node inside
 * {@code ProgressEngine.progress()} or {@code WorkQueue.progressRetrieve()}.
 *
 * <p>In both cases it may set up the tasks and jobs of nodes that have not started, compare
 * results, allocate, and submit what belongs to no graph, or another instance; progress, retrievals
 * and waits of the engine or queue of the graph are NOT_PERMITTED, and the stop of its graph is
 * IN_USE. An exception fails the node with UNEXPECTED and is thrown by the progress or retrieval
 * that handles the end of the node, not by the submission.
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
