/**
 * Implementation of the sanitizer: the seed and the reports ({@link
 * io.softdpu.core.internal.sanitizer.SanitizerCore}), and the disorder that it brings into the
 * completions of an engine or a work queue. Exported to nobody.
 *
 * <p>What a sanitizer knows of a single task, context or buf stands in the package of that, {@code
 * core.spi} and {@code core.memory}.
 *
 * <p>Threads: a sanitizer may be used by any thread, a disorder by the thread of its engine or
 * queue.
 */
@NullMarked
package io.softdpu.core.internal.sanitizer;

import org.jspecify.annotations.NullMarked;
