/**
 * Access of libraries to the memory of mmaps and bufs; abstract, since the package that implements
 * it is above.
 *
 * <p><b>Threads.</b> As each method says. <b>Ownership.</b> Nothing is held.
 */
@NullMarked
package io.softdpu.core.spi.memory;

import org.jspecify.annotations.NullMarked;
