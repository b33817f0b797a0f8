/**
 * Control channels: a common interface for exchanging control messages, over TCP or over Comch, as
 * client or server.
 *
 * <p>Role: {@link io.softdpu.storage.control.ControlChannel} hides whether the peer is reached by a
 * TCP client, a TCP server, a Comch client or a Comch server. Start with {@link
 * io.softdpu.storage.control.ControlChannels}, which creates the four. {@link
 * io.softdpu.storage.control.ControlExchange} sends requests and awaits the matching responses.
 *
 * <p>Thread rule: a channel belongs to one thread, which sends, polls and awaits; {@code abort} and
 * {@code wakeup} may be called from any. Each waits in a progress engine of that thread, so that
 * one thread can wait for several channels, whatever their transport. Only a {@link
 * io.softdpu.storage.control.TcpListener} needs no engine and may be opened by any thread. All
 * queues are bounded.
 *
 * <p>Ownership: a channel owns its sockets, its listener or its Comch endpoint and closes them; the
 * engine, and a Comch channel's device and representor, belong to the caller.
 */
@NullMarked
package io.softdpu.storage.control;

import org.jspecify.annotations.NullMarked;
