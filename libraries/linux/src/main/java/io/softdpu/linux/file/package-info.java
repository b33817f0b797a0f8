/**
 * Files that are opened by name.
 *
 * <p><b>Role.</b> The kind of a file is known only after the open: another process may replace it
 * between a check of the name and the open. So {@link io.softdpu.linux.file.CheckedFile} opens
 * without waiting (O_NONBLOCK), examines the descriptor against a {@link
 * io.softdpu.linux.file.FilePolicy}, and reads no more bytes than the policy allows. A pipe does
 * not block the caller, a device without an end does not fill its memory. All files of the product
 * are opened here, but for those of {@code /proc} and {@code /sys}; {@code architecture-tests}
 * checks that. {@link io.softdpu.linux.file.OutputFile} is for files that a user names to be
 * written: it replaces and removes nothing but what it was meant to. A file system that does not
 * answer is not guarded against.
 *
 * <p><b>Threads.</b> Static methods may be called from any thread. An open file may be read by any
 * thread, and is closed when no thread uses it.
 *
 * <p><b>Ownership.</b> A {@code CheckedFile} owns its descriptor until it is closed.
 */
@NullMarked
package io.softdpu.linux.file;

import org.jspecify.annotations.NullMarked;
