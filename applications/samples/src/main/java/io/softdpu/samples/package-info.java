/**
 * Small programs, one for each way of working with softdpu, to be read from top to bottom. Each is
 * a {@link io.softdpu.samples.Sample} that prints to the stream it is given, checks its result, and
 * fails if that is wrong. They use what any program may use, and nothing else.
 *
 * <p>A sample runs on the thread that calls it and owns what it makes; nothing is left behind.
 */
@NullMarked
package io.softdpu.samples;

import org.jspecify.annotations.NullMarked;
