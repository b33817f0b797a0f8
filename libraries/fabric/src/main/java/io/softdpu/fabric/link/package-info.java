/**
 * Doorbells. A {@link io.softdpu.fabric.link.Link} is the socket to a peer after the handshake: it
 * carries doorbells and signals the peer's end. An engine sleeps on the doorbells of its links in
 * an {@link io.softdpu.fabric.link.EventPoller}, on further descriptors and deadlines through
 * {@link io.softdpu.fabric.link.EngineEvents}, and is woken by a {@link
 * io.softdpu.fabric.link.Mailbox}.
 *
 * <p><b>Threads.</b> Any thread rings, wakes and posts; poller and events belong to the engine's
 * thread. A link's callbacks run on the bus thread.
 *
 * <p><b>Ownership.</b> A link is closed by the caller that received it. Only the bus thread gives
 * the descriptor of a link away to be closed, so that no number is reused under a thread that
 * rings.
 *
 * <p><b>Trust.</b> A peer that sends anything but doorbells counts as gone. No descriptor passed
 * with a doorbell is closed on the engine's thread.
 */
@NullMarked
package io.softdpu.fabric.link;

import org.jspecify.annotations.NullMarked;
