/**
 * Doorbells. A {@link io.softdpu.fabric.link.Link} is the socket to a peer that has shaken hands:
 * it carries doorbells and tells of the peer's end. An engine sleeps on the doorbells of its links
 * in an {@link io.softdpu.fabric.link.EngineWaiter}, on further descriptors and deadlines through
 * {@link io.softdpu.fabric.link.EngineEvents}, and is woken by a {@link
 * io.softdpu.fabric.link.Mailbox}.
 *
 * <p><b>Threads.</b> Any thread rings, wakes and posts; waiter and events belong to the engine's
 * thread. A link's callbacks run on the bus thread.
 *
 * <p><b>Ownership.</b> A link is closed by who it was handed to. Only the bus thread gives the
 * descriptor of a link away to be closed, so that no number is reused under a thread that rings.
 *
 * <p><b>Trust.</b> A peer that sends anything but doorbells ends its link. No descriptor that rides
 * along is closed on the engine's thread.
 */
@NullMarked
package io.softdpu.fabric.link;

import org.jspecify.annotations.NullMarked;
