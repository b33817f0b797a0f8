/**
 * Measurement of RDMA between two processes, run by {@code softdpu perf rdma}.
 *
 * <p>The process that the user started is the host, which submits the operations; it starts a
 * second one as the DPU, whose memory they access, or which receives and answers. The two agree by
 * lines: the exports of both and the begin and end of each run on the standard input of the DPU
 * process, its part of the run and its resource use on its standard output. Each side belongs to
 * one thread, which owns all it opens and closes it in the opposite order.
 */
@NullMarked
package io.softdpu.perf.rdma;

import org.jspecify.annotations.NullMarked;
