/**
 * Types shared by all of softdpu: the outcome of a call ({@link io.softdpu.core.Status}, {@link
 * io.softdpu.core.DpuException}) and the side that a program runs on ({@link
 * io.softdpu.core.Side}). Start with a {@link io.softdpu.core.device.Machine}, which gives access
 * to the devices.
 *
 * <p>A program opens one machine, and from it devices; memory and contexts use devices. An object
 * with dependents cannot be closed: close fails with IN_USE and names them, so objects are closed
 * in the reverse order of opening. Control-path calls may come from any thread; the objects of a
 * progress engine belong to the thread that created the engine.
 *
 * <p>An argument that is null (unless the method allows null), out of range, or closed is refused
 * with a {@link io.softdpu.core.DpuException} before any change: INVALID_VALUE, naming the
 * argument, or the status that the method documents. No other exception leaves this module, except
 * those thrown by callbacks of the user.
 *
 * <p>A closed object cannot be reopened. An object that can be stopped can be started again, but
 * for a sync event:
 *
 * <table>
 * <caption>Which objects can be started again</caption>
 * <tr><th>object<th>restartable<th>how to restart
 * <tr><td>{@link io.softdpu.core.device.Machine}<td>no<td>open another, also at once
 * <tr><td>{@link io.softdpu.core.device.Device}<td>no<td>open its info again
 * <tr><td>{@link io.softdpu.core.device.Representor}<td>no<td>open its info again
 * <tr><td>{@link io.softdpu.core.memory.SharedMemory}<td>no<td>allocate other memory
 * <tr><td>{@link io.softdpu.core.memory.LocalMemory}<td>no<td>allocate other memory
 * <tr><td>{@link io.softdpu.core.memory.Mmap}, local<td>yes<td>stop and start; permissions and
 *     devices may be changed, the memory stays; its exports are new ones
 * <tr><td>{@link io.softdpu.core.memory.Mmap}, imported<td>no<td>import the blob again, or a new
 *     one if the exporter has stopped
 * <tr><td>{@link io.softdpu.core.memory.BufInventory}<td>yes<td>stop, with all bufs back, and start
 * <tr><td>{@link io.softdpu.core.memory.BufPool}<td>yes<td>stop, with all bufs back, and start; the
 *     alignment may be changed
 * <tr><td>{@link io.softdpu.core.memory.BufArray}<td>yes<td>stop, with no buf in use, and start;
 *     the memory may be changed
 * <tr><td>{@link io.softdpu.core.execution.Context}<td>yes<td>stop, progress until it is IDLE, and
 *     start, on the same engine; its configuration may be changed
 * <tr><td>{@link io.softdpu.core.execution.ProgressEngine}<td>no<td>create another; contexts cannot
 *     move to it
 * <tr><td>{@link io.softdpu.core.execution.DescriptorWatch}<td>no<td>watch the descriptor again
 * <tr><td>{@link io.softdpu.core.execution.WorkQueue}<td>no<td>create another and add it to the
 *     contexts
 * <tr><td>{@code io.softdpu.core.graph.Graph}<td>yes<td>stop, with all instances closed, and start;
 *     nodes and dependencies may be added
 * <tr><td>{@code io.softdpu.core.graph.GraphInstance}<td>no<td>create another; an open one is
 *     submitted any number of times
 * <tr><td>{@code io.softdpu.core.sync.SyncEvent}<td>no<td>create another, and export it again
 * <tr><td>{@code io.softdpu.core.sync.RemoteSyncEvent}<td>no<td>create another from the same blob
 * <tr><td>{@code io.softdpu.core.sync.SyncEventContext}<td>no<td>that of another event
 * <tr><td>{@link io.softdpu.core.execution.Sanitizer}<td>no<td>start another
 * </table>
 *
 * <p>Tasks and jobs may be submitted any number of times, after each completion.
 */
@NullMarked
package io.softdpu.core;

import org.jspecify.annotations.NullMarked;
