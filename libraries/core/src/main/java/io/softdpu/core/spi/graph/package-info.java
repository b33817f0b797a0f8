/**
 * Engines and work queues as graphs use them, and graphs as engines, work queues, tasks and jobs
 * use them. Exported to the graphs alone, which are above {@code core.spi}; {@link
 * io.softdpu.core.spi.GraphServices} gives the access to the engine, queue, task or job of a user.
 *
 * <p>A started graph on an engine is an {@link io.softdpu.core.spi.graph.EngineMember} of it, as a
 * context is. The graphs of a work queue are one {@link io.softdpu.core.spi.graph.QueueGraphs},
 * which the queue drives. A node that holds a task or job is a {@link
 * io.softdpu.core.spi.graph.HoldingNode}, and is told its end.
 *
 * <p><b>Threads.</b> That of the engine or work queue. <b>Ownership.</b> A graph connects and
 * disconnects itself; a node returns what it holds.
 */
@NullMarked
package io.softdpu.core.spi.graph;

import org.jspecify.annotations.NullMarked;
