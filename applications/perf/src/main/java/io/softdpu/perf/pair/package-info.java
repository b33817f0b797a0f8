/**
 * Two processes of a measurement, host and DPU: what all measurements of {@code softdpu perf} have
 * in common. Start with {@link io.softdpu.perf.pair.TwoProcesses}.
 *
 * <p>The process that the user started is the host, and starts the DPU's in a fabric folder of
 * their own. What is opened belongs to the thread that measures; an abort comes from any.
 */
@NullMarked
package io.softdpu.perf.pair;

import org.jspecify.annotations.NullMarked;
