/**
 * Workloads of initiators, and their contents.
 *
 * <p>Role: start with {@link io.softdpu.storage.workload.Workload}, a list of {@link
 * io.softdpu.storage.workload.Phase phases}. The requests of a phase come from a {@link
 * io.softdpu.storage.workload.RequestSource}; written and expected data, and the initial data of a
 * volume, are {@link io.softdpu.storage.workload.Content}. The four {@link
 * io.softdpu.storage.workload.ExecutionStrategy execution strategies} of the guide's application
 * create workloads.
 *
 * <p>Thread rule: workloads, phases and contents are immutable; any thread. A request source
 * belongs to the thread of its worker.
 *
 * <p>Ownership: values; a content of a file opens and closes the file in each access.
 */
@NullMarked
package io.softdpu.storage.workload;

import org.jspecify.annotations.NullMarked;
