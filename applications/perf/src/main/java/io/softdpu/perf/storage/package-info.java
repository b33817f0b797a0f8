/**
 * Results of one storage program, as text and as JSON: what each data path thread has done, and in
 * total; of an initiator also each phase, with latencies. Pure.
 *
 * <p>{@link io.softdpu.perf.storage.CoreFigures} is what both forms have of a thread; start with
 * {@link io.softdpu.perf.storage.StorageTable} and {@link io.softdpu.perf.storage.StorageJson}.
 *
 * <p>Thread rule: any thread. Ownership: none.
 */
@NullMarked
package io.softdpu.perf.storage;

import org.jspecify.annotations.NullMarked;
