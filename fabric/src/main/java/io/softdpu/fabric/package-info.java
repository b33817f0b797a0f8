/**
 * The PCIe bus in software. A {@link io.softdpu.fabric.Bus} joins a process to a fabric folder and
 * owns one daemon thread, {@code softdpu-bus}, which stands for the hardware: it accepts, runs
 * handshakes under a deadline, hands out descriptors of exported regions, checks those that come
 * in, and notices the end of a peer. Mapping workers map, populate and unmap memory of peers, and
 * closing threads close their descriptors, since a peer chooses how long that takes.
 *
 * <p><b>Threads.</b> Everything that waits for a socket runs on the bus thread; its results are
 * futures and listener calls that only post to a {@link io.softdpu.fabric.Mailbox}. The data path
 * ({@link io.softdpu.fabric.Link#ring()}, {@link io.softdpu.fabric.ImportedRegion#revoked()}, the
 * rings) belongs to the engine that polls, takes no lock and allocates nothing.
 *
 * <p><b>Ownership.</b> A {@link io.softdpu.fabric.SharedSegment} is counted: whoever keeps it
 * retains it, and at zero it is unmapped and its descriptor closed, by a mapping worker where
 * {@link io.softdpu.fabric.Bus#release} gave it up. A {@link io.softdpu.fabric.Link} is closed by
 * whoever it was handed to; only the bus thread closes descriptors of links, so that no number is
 * reused under a thread that rings.
 *
 * <p><b>Trust.</b> The peer may send anything at any time. Whatever arrives is copied once,
 * checked, then used; the bytes are described in {@code docs/wire/fabric.md}.
 */
@NullMarked
package io.softdpu.fabric;

import org.jspecify.annotations.NullMarked;
