package io.softdpu.core.graph;

/** States of a node of a graph instance, of its present or last run. */
public enum NodeState {
    /** The instance was never submitted. */
    IDLE,
    /** The node has not started: it waits for its parents, or for another try of its submission. */
    WAITING,
    /** The node has started and not ended. */
    RUNNING,
    /** The node has succeeded. */
    COMPLETED,
    /** The node has failed, or its submission was refused. */
    FAILED,
    /** The node has never started, since another has failed. */
    SKIPPED
}
