/**
 * Event source for descriptors, deadlines and wake-ups by other threads: {@link
 * io.softdpu.linux.event.Poller}, built on the calls of {@code io.softdpu.linux}.
 *
 * <p><b>Role.</b> A poller reads and writes nothing and has no thread of its own; time is {@link
 * System#nanoTime}. Events are interpreted by their handlers. Used by the bus thread and, through
 * the fabric and core, by each progress engine.
 *
 * <p><b>Threads.</b> A poller, its registrations and its timers belong to one thread at a time;
 * only {@link io.softdpu.linux.event.Poller#wake} may be called from any thread.
 *
 * <p><b>Ownership.</b> A poller owns its epoll, its eventfd and its timerfd, if any. Watched
 * descriptors stay with their owner, which ends the registration before closing the descriptor.
 *
 * <p><b>Allocation.</b> Registering and making a timer allocate. Waiting, running handlers, setting
 * and cancelling timers, and waking do not, once as many timers have been set at the same time as
 * ever will be.
 */
@NullMarked
package io.softdpu.linux.event;

import org.jspecify.annotations.NullMarked;
