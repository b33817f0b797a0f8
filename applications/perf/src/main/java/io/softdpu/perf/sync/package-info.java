/**
 * Measurement of a sync event between two processes, run by {@code softdpu perf sync-event}.
 *
 * <p>The process that the user started has the CPU handle; it starts a second one as the DPU, with
 * a DPU handle. The two exchange lines: the export and the begin of each run on the standard input
 * of the DPU process, its resource use on its standard output. During a run they share the event
 * and nothing else. Each side belongs to one thread.
 */
@NullMarked
package io.softdpu.perf.sync;

import org.jspecify.annotations.NullMarked;
