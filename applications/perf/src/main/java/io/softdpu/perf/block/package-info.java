/**
 * Measurement of a block device in one process, run by {@code softdpu perf block}: threads, each
 * with an engine and a context, keep a number of reads, writes or flushes in flight.
 *
 * <p>{@code BlockMeasurement} is where to start. It belongs to one thread, and ends by a request of
 * any other.
 */
@NullMarked
package io.softdpu.perf.block;

import org.jspecify.annotations.NullMarked;
