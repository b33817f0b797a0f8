/**
 * Protocol between a measuring command and its child processes, and the start of these processes.
 *
 * <p>A child runs the same command as its parent: {@link io.softdpu.perf.child.JvmCommand} has the
 * command line. Downwards: a plan as {@link io.softdpu.perf.child.PhaseSpec} texts on the command
 * line, questions as bytes on standard input, and the end of that stream as the end of the parent.
 * Upwards: lines on standard output while the session runs, and one {@link
 * io.softdpu.perf.child.ChildReport} in a file at its end. {@link
 * io.softdpu.perf.child.SharedFolder} is the folder that they use together. All options for it are
 * hidden: they are no interface for users, and both ends are always of the same build.
 *
 * <p>The values are immutable and belong to no thread. A shared folder may be used from any thread;
 * it owns its lock, and its last user removes it.
 */
@NullMarked
package io.softdpu.perf.child;

import org.jspecify.annotations.NullMarked;
