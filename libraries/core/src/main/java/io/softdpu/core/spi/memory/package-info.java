/**
 * Access of libraries to the memory of mmaps, bufs and peers; abstract, since the packages that
 * implement it are above.
 *
 * <p><b>Threads.</b> As each method says. <b>Ownership.</b> Nothing is held.
 */
@NullMarked
package io.softdpu.core.spi.memory;

import org.jspecify.annotations.NullMarked;
