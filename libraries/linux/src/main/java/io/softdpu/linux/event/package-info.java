/**
 * One place to wait for descriptors, deadlines and other threads: {@link
 * io.softdpu.linux.event.Poller}, over the calls of {@code io.softdpu.linux}.
 *
 * <p><b>Role.</b> A poller knows descriptors by their numbers and time by {@link System#nanoTime};
 * it reads and writes nothing and has no thread of its own. What an event means is its handler's to
 * know. Used by the bus thread and, through the fabric and core, by each progress engine.
 *
 * <p><b>Threads.</b> A poller, its registrations and its timers belong to one thread at a time;
 * {@link io.softdpu.linux.event.Poller#wake} alone may be called from any.
 *
 * <p><b>Ownership.</b> A poller owns its epoll, its eventfd and, where it has one, its timerfd.
 * Descriptors stay with their owner, who ends the registration before closing the descriptor.
 *
 * <p><b>Allocation.</b> Registering and making a timer allocate. Waiting, running handlers, setting
 * and cancelling timers, and waking do not, once as many timers have been set at the same time as
 * ever will be.
 */
@NullMarked
package io.softdpu.linux.event;

import org.jspecify.annotations.NullMarked;
