/**
 * Running the demo: three child processes, started one after the other, followed to their ends, and
 * what came of it.
 *
 * <p>{@link io.softdpu.cli.demo.DemoSession} owns the processes and the folder. Everything happens
 * on the thread that runs it; the threads that read a process's output hand each line over as an
 * event. Nothing in here prints: {@link io.softdpu.cli.demo.DemoListener} hears what happens,
 * {@link io.softdpu.cli.demo.DemoResult} is what it came to.
 */
@NullMarked
package io.softdpu.cli.demo;

import org.jspecify.annotations.NullMarked;
