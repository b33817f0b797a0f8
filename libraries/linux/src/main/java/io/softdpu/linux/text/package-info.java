/**
 * Text for messages and log lines, made safe to print, and text from the user, refused where the
 * JVM could not decode it.
 *
 * <p><b>Role.</b> Untrusted text is escaped here before it gets into an exception or a log line,
 * and mistyped words are compared with those that were expected. The package is separate from the
 * system calls, since every module may use it.
 *
 * <p><b>Threads.</b> Pure functions: any thread, no state. They allocate: for code that formats
 * messages, not for a data path.
 */
@NullMarked
package io.softdpu.linux.text;

import org.jspecify.annotations.NullMarked;
