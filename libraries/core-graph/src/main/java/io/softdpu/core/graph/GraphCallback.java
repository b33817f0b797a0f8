package io.softdpu.core.graph;

/**
 * Callback for the end of an instance of a graph on a progress engine; runs inside {@code
 * progress()}. In it the instance belongs to the user again, who submits it again, keeps it, or
 * closes it.
 */
@FunctionalInterface
public interface GraphCallback {
    /** Called with an instance all of whose nodes have ended or were skipped. */
    void ended(GraphInstance instance);
}
