/**
 * The access of libraries to the memory behind mmaps and bufs, below the package that implements
 * it.
 *
 * <p><b>Threads.</b> As each method says. <b>Ownership.</b> Nothing is held.
 */
@NullMarked
package io.softdpu.core.spi.memory;

import org.jspecify.annotations.NullMarked;
