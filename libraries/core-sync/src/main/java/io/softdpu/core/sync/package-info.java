/**
 * Sync events (Core guide, section 3.4.6): counters of 64 bits that programs of host and DPU
 * update, read and wait for. Start with {@link io.softdpu.core.sync.SyncEvent}.
 *
 * <p>One event has one CPU handle and any number of DPU handles, up to a limit. All act on the same
 * word of shared memory. In synchronous mode the calling thread spins or yields; in asynchronous
 * mode, through {@link io.softdpu.core.sync.SyncEventContext}, an engine or a work queue sleeps and
 * is woken by the process that updates.
 *
 * <p><b>Threads.</b> Each half of a handle in synchronous mode belongs to one thread, a context to
 * its engine or its queues. Handles join and leave on the bus thread.
 *
 * <p><b>Ownership.</b> The CPU handle owns the counter, unless it is in memory of the program; each
 * handle owns a page that it shares with the process of the CPU handle alone.
 *
 * <p><b>Trust.</b> Another process may write anything to the counter and to its own page, and ring
 * at will: that changes the counter, wakes threads needlessly, and costs a system call per update,
 * and nothing else. The blob that lets a handle join is checked field by field.
 */
@NullMarked
package io.softdpu.core.sync;

import org.jspecify.annotations.NullMarked;
