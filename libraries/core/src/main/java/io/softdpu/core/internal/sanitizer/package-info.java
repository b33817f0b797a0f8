/**
 * Implementation of the sanitizer: the seed and the reports ({@link
 * io.softdpu.core.internal.sanitizer.SanitizerState}), and the shuffler of the completions of an
 * engine or a work queue. Not exported.
 *
 * <p>The checkers of single tasks, contexts and bufs are in {@code core.spi} and {@code
 * core.memory}.
 *
 * <p>Threads: a sanitizer may be used by any thread, a shuffler by the thread of its engine or
 * queue.
 */
@NullMarked
package io.softdpu.core.internal.sanitizer;

import org.jspecify.annotations.NullMarked;
