/**
 * Two processes of a measurement, host and DPU: what all measurements of {@code softdpu perf} have
 * in common. Start with {@link io.softdpu.perf.pair.TwoProcesses}.
 *
 * <p>The process that the user started is the host, and starts the DPU's in a fabric folder of
 * their own. What is opened belongs to the thread that measures; an abort comes from any.
 *
 * <p>A kind of measurement is a {@link io.softdpu.perf.pair.PerfPlan}, a {@link
 * io.softdpu.perf.pair.PerfHost} and a {@link io.softdpu.perf.pair.PerfDpu} that connect and drive
 * the load, and {@link io.softdpu.perf.pair.PerfForms} that say what its results are; the command
 * has the options of the plan.
 */
@NullMarked
package io.softdpu.perf.pair;

import org.jspecify.annotations.NullMarked;
