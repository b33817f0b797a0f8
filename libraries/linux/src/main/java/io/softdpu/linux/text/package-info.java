/**
 * Text for messages and log lines, made safe to print.
 *
 * <p><b>Role.</b> Everything that was not written by this program passes here on its way into an
 * exception or a log line. The package is on its own, and not beside the system calls, since every
 * module may use it.
 *
 * <p><b>Threads.</b> Pure functions: any thread, no state. They allocate, and belong where a
 * message is made, not on a data path.
 */
@NullMarked
package io.softdpu.linux.text;

import org.jspecify.annotations.NullMarked;
