/**
 * Graphs (Core guide, section 3.4.7): tasks of a progress engine, or jobs of a work queue, with
 * callbacks and further graphs between them, in the order that dependencies demand. Start with
 * {@link io.softdpu.core.graph.Graph#create}.
 *
 * <p>A {@link io.softdpu.core.graph.Graph} is built once and started; its {@link
 * io.softdpu.core.graph.GraphInstance}s have the tasks or jobs, are submitted, and run by
 * themselves while the engine is progressed or the queue retrieved from.
 *
 * <p>Threads: a graph for an engine, and its instances, belong to the thread of the engine. A graph
 * for work queues may be used by any thread, and on several queues at once; an instance by one
 * thread at a time, while it is in flight by that of its queue. User nodes and callbacks run inside
 * progress or retrieve, user nodes that are roots inside the submission, on that thread. After
 * start nothing is allocated.
 *
 * <p>Ownership: an instance holds its tasks, jobs and instances of sub-graphs until it is closed;
 * instances are closed before their graph, the graph before its contexts.
 */
@NullMarked
package io.softdpu.core.graph;

import org.jspecify.annotations.NullMarked;
