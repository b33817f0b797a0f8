/**
 * The words that all of softdpu shares: the outcome of a call ({@link io.softdpu.core.Status},
 * {@link io.softdpu.core.DpuException}) and where a program stands ({@link io.softdpu.core.Side}).
 * A program begins with {@link io.softdpu.core.device.Machine}, its place at the card.
 *
 * <p>A program opens one machine, and from it devices; memory and contexts live on devices. What is
 * used by something else cannot be closed: each of them answers IN_USE and names what lives on it,
 * so that the order of closing is the reverse of the order of opening and a mistake is told where
 * it is made. Set-up calls may come from any thread; what belongs to a progress engine belongs to
 * the thread that made the engine.
 *
 * <p>What is null where a method does not say that null will do, out of range, or closed already is
 * refused with a {@link io.softdpu.core.DpuException} before anything has changed: INVALID_VALUE,
 * naming the argument, or the status that the method names. No other exception leaves this module,
 * unless a callback of the user threw it.
 *
 * <p>What is closed is closed for good. What can be stopped can be started again:
 *
 * <table>
 * <caption>Which objects can be started again</caption>
 * <tr><th>object<th>restartable<th>how it begins anew
 * <tr><td>{@link io.softdpu.core.device.Machine}<td>no<td>open another, at once if need be
 * <tr><td>{@link io.softdpu.core.device.Device}<td>no<td>open its info again
 * <tr><td>{@link io.softdpu.core.device.Representor}<td>no<td>open its info again
 * <tr><td>{@link io.softdpu.core.memory.SharedMemory}<td>no<td>allocate other memory
 * <tr><td>{@link io.softdpu.core.memory.LocalMemory}<td>no<td>allocate other memory
 * <tr><td>{@link io.softdpu.core.memory.Mmap}, local<td>yes<td>stop and start; permissions and
 *     devices may be others then, the memory stays; its exports are new ones
 * <tr><td>{@link io.softdpu.core.memory.Mmap}, imported<td>no<td>import the blob again, or a new
 *     one if the exporter has stopped
 * <tr><td>{@link io.softdpu.core.memory.BufInventory}<td>yes<td>stop, with all bufs back, and start
 * <tr><td>{@link io.softdpu.core.memory.BufPool}<td>yes<td>stop, with all bufs back, and start; the
 *     alignment may be another then
 * <tr><td>{@link io.softdpu.core.memory.BufArray}<td>yes<td>stop, with no buf in use, and start; the
 *     memory may be another then
 * <tr><td>{@link io.softdpu.core.execution.Context}<td>yes<td>stop, progress until it is IDLE, and
 *     start, on the same engine; its configuration may be another then
 * <tr><td>{@link io.softdpu.core.execution.ProgressEngine}<td>no<td>create another; contexts cannot
 *     move to it
 * <tr><td>{@link io.softdpu.core.execution.DescriptorWatch}<td>no<td>watch the descriptor again
 * <tr><td>{@link io.softdpu.core.execution.WorkQueue}<td>no<td>create another and add it to the
 *     contexts
 * <tr><td>{@link io.softdpu.core.execution.Sanitizer}<td>no<td>start another
 * </table>
 *
 * <p>Tasks and jobs are submitted as often as one likes, once they have come back.
 */
@NullMarked
package io.softdpu.core;

import org.jspecify.annotations.NullMarked;
