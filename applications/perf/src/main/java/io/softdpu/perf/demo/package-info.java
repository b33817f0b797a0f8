/**
 * Running the demo: three child processes, started one after the other, observed until their ends,
 * and the results.
 *
 * <p>{@link io.softdpu.perf.demo.DemoSession} owns the processes and the folder. Everything happens
 * on the thread that runs it; the threads that read a process's output hand each line over as an
 * event. {@link io.softdpu.perf.demo.DemoListener} hears what happens, and {@link
 * io.softdpu.perf.demo.DemoResult} is what it came to; {@link io.softdpu.perf.demo.DemoProgress}
 * shows the one on a stream of the caller, {@link io.softdpu.perf.demo.DemoTable} and {@link
 * io.softdpu.perf.demo.DemoJson} make text of the other.
 */
@NullMarked
package io.softdpu.perf.demo;

import org.jspecify.annotations.NullMarked;
