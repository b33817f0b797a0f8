/**
 * Measurement of a Comm Channel between two processes, run by {@code softdpu perf comch}.
 *
 * <p>The process that the user started is the host and drives the load; it starts a second one as
 * the DPU, which sends back or takes what comes. All messages travel the fast path, from a producer
 * to the buffers that a consumer has posted; the two agree on the end by control messages. Each
 * side belongs to one thread, which owns all it opens and closes it in the opposite order.
 */
@NullMarked
package io.softdpu.perf.comch;

import org.jspecify.annotations.NullMarked;
