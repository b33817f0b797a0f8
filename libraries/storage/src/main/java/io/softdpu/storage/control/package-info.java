/**
 * Control channels: one way to exchange control messages, over TCP or over Comch, on either end.
 *
 * <p>Role: {@link io.softdpu.storage.control.ControlChannel} hides whether the peer is reached by a
 * TCP client, a TCP server, a Comch client or a Comch server; {@link
 * io.softdpu.storage.control.ControlChannels} makes the four. {@link
 * io.softdpu.storage.control.ControlExchange} asks and awaits the matching answer.
 *
 * <p>Thread rule: a channel belongs to one thread, which sends, polls and awaits; {@code abort} and
 * {@code wakeup} may be called from any. Each waits in a progress engine of that thread, so that
 * one thread can wait for several channels, whatever their transport. A {@link
 * io.softdpu.storage.control.TcpListener} alone needs no engine and may be opened by any thread.
 * All queues are bounded.
 *
 * <p>Ownership: a channel owns its sockets, its listener or its Comch endpoint and closes them; the
 * engine, and a Comch channel's device and representor, stay their owner's.
 */
@NullMarked
package io.softdpu.storage.control;

import org.jspecify.annotations.NullMarked;
