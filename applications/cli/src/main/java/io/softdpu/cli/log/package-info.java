/**
 * Logging of the program to standard error, one line per record, at the level of the option {@code
 * --log-level}.
 *
 * <p>The libraries log by {@link System.Logger} and know nothing of this package; the platform
 * finds {@link io.softdpu.cli.log.StderrLoggerFinder} by itself. It replaces java.util.logging,
 * which closes its handlers when a signal ends the program, at the same time as the roles report
 * what they did.
 *
 * <p>Any thread may log. The level is one volatile field.
 */
@NullMarked
package io.softdpu.cli.log;

import org.jspecify.annotations.NullMarked;
