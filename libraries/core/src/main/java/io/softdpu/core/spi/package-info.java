/**
 * Base classes and services for the libraries above core (Comm Channel, RDMA and its providers,
 * compute), exported to them only: base classes of contexts, tasks and jobs, types and pools of
 * tasks, access to the memory of mmaps and bufs, and the statuses of the bus's failures.
 *
 * <p>A library's context is a package-private class that extends {@link
 * io.softdpu.core.spi.ContextBase}, which has the state machine and calls the library's hooks, and
 * implements the library's public interface; its tasks extend {@link io.softdpu.core.spi.TaskBase}
 * in the same way and come from a {@link io.softdpu.core.spi.TaskType}, which creates them at
 * start. Results on other threads (the bus thread, other engines) are posted to the engine of the
 * context and become visible in its progress. All calls into a library are on the thread of the
 * engine.
 *
 * <p>A library with jobs also creates {@link io.softdpu.core.spi.JobBase}s and, for each work queue
 * that its context is added to, a {@link io.softdpu.core.spi.JobQueue}, which only the queue's
 * thread uses. A library with objects that are no contexts has {@link
 * io.softdpu.core.spi.LibraryObject} for them; {@link io.softdpu.core.spi.GraphServices} is for
 * graphs alone. Types of the bus appear only in {@link io.softdpu.core.spi.BusServices} and in
 * {@code spi.bus}, for libraries that use the bus themselves. A library closes the regions, leases
 * and links that it opens.
 */
@NullMarked
package io.softdpu.core.spi;

import org.jspecify.annotations.NullMarked;
