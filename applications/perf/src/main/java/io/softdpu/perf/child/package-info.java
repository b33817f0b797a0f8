/**
 * Protocol between a measuring command and its child processes, and the start of these processes.
 *
 * <p>A child runs the same command as its parent: {@link io.softdpu.perf.child.JvmCommand} has the
 * command line. Downwards: a plan as {@link io.softdpu.perf.child.PhaseSpec} texts on the command
 * line, questions as bytes on standard input, and the end of that stream as a request to end.
 * Upwards: lines on standard output while the session runs, and one {@link
 * io.softdpu.perf.child.ChildReport} in a file at its end. A {@link
 * io.softdpu.core.process.ParentWatch} ends a child with its parent. All options for it are hidden:
 * they are no interface for users, and both ends are always of the same build.
 *
 * <p>The values are immutable and belong to no thread.
 */
@NullMarked
package io.softdpu.perf.child;

import org.jspecify.annotations.NullMarked;
