/**
 * How the texts of a command line become values: sizes, times, cores, sides, log levels.
 *
 * <p>Each converter refuses what it does not know with a message that names the text and what was
 * expected; picocli puts the option's name before it. They hold no state.
 */
@NullMarked
package io.softdpu.cli.options;

import org.jspecify.annotations.NullMarked;
