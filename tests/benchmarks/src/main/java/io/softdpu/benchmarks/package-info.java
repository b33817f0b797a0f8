/**
 * Benchmarks of the hot paths under JMH: rings, tasks, bufs, io_messages. Run by {@code
 * benchmarks/jmh}; comparisons with other projects are the scripts {@code benchmarks/beside-*.sh}.
 *
 * <p>They run on the class path and see the product's packages from inside. One thread does both
 * sides of a ring, so that what is measured is the work and not the way between two cores.
 */
@NullMarked
package io.softdpu.benchmarks;

import org.jspecify.annotations.NullMarked;
