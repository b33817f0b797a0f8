/**
 * Grants of mmaps, and memory of peers as transports see it; the packages that implement the latter
 * are above.
 *
 * <p><b>Threads.</b> As each method says. <b>Ownership.</b> Nothing is held.
 */
@NullMarked
package io.softdpu.core.spi.memory;

import org.jspecify.annotations.NullMarked;
