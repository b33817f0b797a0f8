/**
 * Converters of the texts of options to values: sizes, times, cores, sides, log levels, and the
 * measurements of a demo. The commands name them in their options, and picocli creates and calls
 * them.
 *
 * <p>A converter refuses an invalid text with a message that names the text and the expectation;
 * the package of the commands adds the name of the option.
 *
 * <p><b>Threads.</b> Any thread: converters have no state.
 *
 * <p><b>Ownership.</b> None: values are immutable.
 */
@NullMarked
package io.softdpu.cli.options;

import org.jspecify.annotations.NullMarked;
