/**
 * What the program logs, and where: everything goes to standard error, one line each, at the level
 * that the option {@code --log-level} chose.
 *
 * <p>The libraries log by {@link System.Logger} and know nothing of this package; the platform
 * finds {@link io.softdpu.cli.log.StderrLoggerFinder} by itself. It stands in for java.util.logging
 * because that one shuts its handlers when a signal ends the program, at the same time as the roles
 * report what they did.
 *
 * <p>Any thread may log. The level is one volatile field; nobody else owns anything.
 */
@NullMarked
package io.softdpu.cli.log;

import org.jspecify.annotations.NullMarked;
