/**
 * Rings in shared memory between two processes that do not trust each other. The receiver owns the
 * memory and formats it; geometry is agreed before and kept privately by both sides, so the header
 * in memory informs and is never believed.
 *
 * <p><b>Threads.</b> Each half of a ring belongs to one thread, except {@link
 * io.softdpu.fabric.ring.FastPathProducer}, which all producers of a connection share.
 *
 * <p><b>Rules.</b> Indices have 64 bits and never wrap. A side keeps its own index privately and
 * never reads it back; it reads the other's once, checks its range, then uses it. A header is
 * copied to private fields before its length is checked.
 *
 * <p><b>Memory.</b> The words of a ring are reached by their addresses, and nothing asks with each
 * access whether the memory is still there: who uses a half holds a reference of the memory until
 * it is done with it. Offsets are masked, so they stay inside. Data is copied through segments.
 */
@NullMarked
package io.softdpu.fabric.ring;

import org.jspecify.annotations.NullMarked;
