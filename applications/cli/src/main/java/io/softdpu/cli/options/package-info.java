/**
 * Converters of command line texts to values: sizes, times, cores, sides, log levels.
 *
 * <p>Each converter refuses an invalid text with a message that names it and the expectation;
 * picocli puts the option's name before it. They hold no state.
 */
@NullMarked
package io.softdpu.cli.options;

import org.jspecify.annotations.NullMarked;
