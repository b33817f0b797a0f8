/**
 * Grants of mmaps, memory that peers access by key, and memory of peers as transports see it; the
 * packages that implement the latter are above.
 *
 * <p><b>Threads.</b> As each class says. <b>Ownership.</b> A protection domain has the keys of a
 * device until they are withdrawn; their memory is its owner's.
 */
@NullMarked
package io.softdpu.core.spi.memory;

import org.jspecify.annotations.NullMarked;
