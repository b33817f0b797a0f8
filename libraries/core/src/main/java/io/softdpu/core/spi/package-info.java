/**
 * Bases and services for the libraries above core (Comm Channel, RDMA and its providers, compute),
 * exported to them alone: the base of a context, of a task and of a job, tables of tasks, the
 * memory behind an mmap or a buf, and the statuses of the bus's failures.
 *
 * <p>A library's context is a package-private class that extends {@link
 * io.softdpu.core.spi.ContextBase}, which has the states and calls the library back for what has to
 * be done, and implements the library's public interface; its tasks extend {@link
 * io.softdpu.core.spi.TaskBase} in the same way and come from a {@link
 * io.softdpu.core.spi.TaskSet}, which makes them at start. What arrives on other threads (the bus
 * thread, other engines) is posted to the engine of the context and becomes visible in its
 * progress. All calls into a library come on the thread of the engine.
 *
 * <p>A library that knows jobs as well makes {@link io.softdpu.core.spi.JobBase}s and, for each
 * work queue that its context is added to, a {@link io.softdpu.core.spi.JobLane}, which the queue's
 * thread alone uses. Types of the bus stand in {@link io.softdpu.core.spi.BusServices} alone, for
 * libraries that are on the bus themselves. Regions, leases and links that a library opens are the
 * library's to close.
 */
@NullMarked
package io.softdpu.core.spi;

import org.jspecify.annotations.NullMarked;
