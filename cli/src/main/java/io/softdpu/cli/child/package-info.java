/**
 * What a parent command and the role processes it starts say to each other.
 *
 * <p>Downwards: a plan as {@link io.softdpu.cli.child.PhaseSpec} texts on the command line, and the
 * end of standard input, which {@link io.softdpu.cli.child.Lifeline} takes as the end of the
 * parent. Upwards: lines on standard output while the session runs, and one {@link
 * io.softdpu.cli.child.ChildReport} in a file at its end. All options for it are hidden: they are
 * no interface for users, and both ends are always of the same build.
 *
 * <p>The values are immutable. A lifeline has a hook and a daemon thread of its own; it owns
 * nothing but the right to abort the role.
 */
@NullMarked
package io.softdpu.cli.child;

import org.jspecify.annotations.NullMarked;
