/**
 * Access of the RDMA library to remote sync events: their counters as memory of a peer, and the
 * wake-up of those who wait.
 *
 * <p><b>Threads.</b> As each method says. <b>Ownership.</b> An event that is marked stays open.
 */
@NullMarked
package io.softdpu.core.sync.spi;

import org.jspecify.annotations.NullMarked;
