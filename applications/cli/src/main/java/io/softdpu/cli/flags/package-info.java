/**
 * Files with command line flags, as DOCA programs read them. Start from {@link
 * io.softdpu.cli.flags.FlagFile}, which knows the form of a file; which flags a command has is the
 * command's to say.
 *
 * <p>Everything is immutable and may be used by any thread; nothing is left open.
 */
@NullMarked
package io.softdpu.cli.flags;

import org.jspecify.annotations.NullMarked;
