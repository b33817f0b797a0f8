/**
 * Exports over the bus, for the libraries with exports of their own: check whether what another
 * process has exported may be imported by a device here, the wait until it is, the same for every
 * kind of export blob, and memory of a peer with the bus that has exported it.
 *
 * <p><b>Threads.</b> Any. <b>Ownership.</b> Nothing is held.
 */
@NullMarked
package io.softdpu.core.spi.bus;

import org.jspecify.annotations.NullMarked;
