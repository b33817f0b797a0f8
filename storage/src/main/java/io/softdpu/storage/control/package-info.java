/**
 * Control channels: one way to exchange control messages, over TCP or over Comch, on either end.
 *
 * <p>Role: {@link io.softdpu.storage.control.ControlChannel} hides whether the peer is reached by a
 * TCP client, a TCP server, a Comch client or a Comch server; {@link
 * io.softdpu.storage.control.ControlChannels} makes the four. {@link
 * io.softdpu.storage.control.ControlExchange} asks and awaits the matching answer.
 *
 * <p>Thread rule: a channel belongs to one thread, which sends, polls and awaits; {@code abort} and
 * {@code wakeup} may be called from any. Nobody sleeps: TCP waits in a selector, Comch in its
 * progress engine. All queues are bounded.
 *
 * <p>Ownership: a channel owns its socket or its Comch endpoint and closes it; the engine of a
 * Comch channel, its device and its representor stay their owner's.
 */
@NullMarked
package io.softdpu.storage.control;

import org.jspecify.annotations.NullMarked;
