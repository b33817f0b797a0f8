/**
 * Failures of the bus, before they have a DOCA status, and the codes that report them to a peer.
 *
 * <p><b>Threads.</b> Immutable values; any thread. <b>Ownership.</b> Nothing is held.
 *
 * <p><b>Trust.</b> Messages may quote a peer: each is escaped, and a peer's own text is cut.
 */
@NullMarked
package io.softdpu.fabric.error;

import org.jspecify.annotations.NullMarked;
