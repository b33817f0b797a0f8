/**
 * Acceleration libraries of the Core guide. {@link io.softdpu.compute.Dma} copies memory, between
 * any two bufs or lists of bufs, local or imported from the other side of the PCIe bus; {@link
 * io.softdpu.compute.Sha} hashes it, as a whole or in parts. They do so by tasks on a progress
 * engine and by jobs on work queues. Start with {@link io.softdpu.compute.Dma#create} or {@link
 * io.softdpu.compute.Sha#create}; {@link io.softdpu.compute.DmaCapabilities} and {@link
 * io.softdpu.compute.ShaCapabilities} have the limits of a device.
 *
 * <p>Both are operations in slices on the same base classes. The next library of this kind is a
 * {@code BufOperation}, a context and a job queue.
 *
 * <p><b>Thread.</b> A context and its tasks belong to the thread of the progress engine; callbacks
 * run inside {@code progress()}.
 *
 * <p><b>Ownership.</b> The context owns the pools of its tasks. From submit to callback a task and
 * its bufs belong to the context. After start nothing is allocated.
 *
 * <p><b>Arguments.</b> An argument that is null (unless the method allows null), out of range, or
 * closed is refused with a {@link io.softdpu.core.DpuException} before any change: INVALID_VALUE,
 * naming the argument, or the status that the method documents. No other exception leaves this
 * package, except those thrown by callbacks of the user.
 */
@NullMarked
package io.softdpu.compute;

import org.jspecify.annotations.NullMarked;
