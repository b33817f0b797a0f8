/**
 * Rings in shared memory between two processes that do not trust each other. The receiver owns the
 * memory and formats it; the geometry is agreed before and kept privately by both sides; the header
 * in memory is never trusted.
 *
 * <p><b>Threads.</b> Each side of a ring belongs to one thread, except {@link
 * io.softdpu.fabric.ring.FastPathProducer}, which all producers of a connection share.
 *
 * <p><b>Rules.</b> Indices and stamps have 64 bits and never wrap. A side keeps its own index
 * privately and never reads it back; it reads the other's once, checks its range, then uses it. A
 * stamp is compared with the one that is expected, and not used otherwise. A header is copied to
 * private fields before its length is checked.
 *
 * <p><b>Memory.</b> The words of a ring are accessed by address, without a check that the memory is
 * still mapped: the user of a side holds a reference to the memory until it has finished. Offsets
 * are masked, so they stay inside. Data is copied through segments.
 */
@NullMarked
package io.softdpu.fabric.ring;

import org.jspecify.annotations.NullMarked;
