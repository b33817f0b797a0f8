/**
 * Workloads: what an initiator does in its session, and the bytes that it does it with.
 *
 * <p>Role: a {@link io.softdpu.storage.workload.Workload} is a list of {@link
 * io.softdpu.storage.workload.Phase phases}. What a phase asks for comes from a {@link
 * io.softdpu.storage.workload.RequestSource}; what is written and expected, and what a volume is
 * loaded with, is {@link io.softdpu.storage.workload.Content}. The four {@link
 * io.softdpu.storage.workload.ExecutionStrategy execution strategies} of the guide's application
 * are workloads.
 *
 * <p>Thread rule: workloads, phases and contents are immutable and belong to no thread; a request
 * source belongs to the thread of the core that it was made for.
 *
 * <p>Ownership: values; a content of a file opens it for each access and closes it.
 */
@NullMarked
package io.softdpu.storage.workload;

import org.jspecify.annotations.NullMarked;
