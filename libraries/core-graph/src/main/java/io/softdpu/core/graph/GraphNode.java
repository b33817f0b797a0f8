package io.softdpu.core.graph;

import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.JobType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Node of a {@link Graph}: runs a task or job of a context, a callback of the user, or an instance
 * of another graph. Immutable for its users; any thread.
 */
public final class GraphNode {
    private final Graph graph;
    private final int index;
    private final @Nullable Context context;
    private final @Nullable JobType type;
    private final @Nullable UserNodeCallback callback;
    private final @Nullable Graph subgraph;

    /** Changed by the graph only, before its start. */
    private final List<GraphNode> children = new ArrayList<>();

    private int parents;

    /** Children in the form that a started graph uses. */
    private int[] startedChildren = new int[0];

    private GraphNode(
            Graph graph,
            int index,
            @Nullable Context context,
            @Nullable JobType type,
            @Nullable UserNodeCallback callback,
            @Nullable Graph subgraph) {
        this.graph = graph;
        this.index = index;
        this.context = context;
        this.type = type;
        this.callback = callback;
        this.subgraph = subgraph;
    }

    static GraphNode ofContext(Graph graph, int index, Context context, @Nullable JobType type) {
        return new GraphNode(graph, index, context, type, null, null);
    }

    static GraphNode ofUser(Graph graph, int index, UserNodeCallback callback) {
        return new GraphNode(graph, index, null, null, callback, null);
    }

    static GraphNode ofSubgraph(Graph graph, int index, Graph subgraph) {
        return new GraphNode(graph, index, null, null, null, subgraph);
    }

    /** The graph that it belongs to. */
    public Graph graph() {
        return graph;
    }

    /** Its number in the order of creation, from 0. */
    public int index() {
        return index;
    }

    @Nullable Context context() {
        return context;
    }

    @Nullable JobType type() {
        return type;
    }

    @Nullable UserNodeCallback callback() {
        return callback;
    }

    @Nullable Graph subgraph() {
        return subgraph;
    }

    List<GraphNode> children() {
        return children;
    }

    void addChild(GraphNode child) {
        children.add(child);
        child.parents++;
    }

    int parents() {
        return parents;
    }

    void start() {
        startedChildren = children.stream().mapToInt(GraphNode::index).toArray();
    }

    int[] startedChildren() {
        return startedChildren;
    }

    /** Its number and what it runs, for messages. */
    @Override
    public String toString() {
        return "node " + index + " (" + describeWork() + ")";
    }

    private String describeWork() {
        if (context != null) {
            return type == null ? context.toString() : type + " of " + context;
        }
        return subgraph == null ? "user" : subgraph.toString();
    }
}
