/**
 * The storage initiator on the host: reads and writes a storage through a zero-copy service.
 *
 * <p>Role: {@link io.softdpu.storage.initiator.StorageInitiator} exports its memory, opens a
 * session and carries out a {@link io.softdpu.storage.initiator.Workload} in it, phase after phase.
 * What a phase asks for comes from a {@link io.softdpu.storage.initiator.RequestSource}; what came
 * of it stands in a {@link io.softdpu.storage.initiator.PhaseReport}. The four {@link
 * io.softdpu.storage.initiator.ExecutionStrategy execution strategies} of the guide's application
 * are workloads.
 *
 * <p>Thread rule: {@code run} belongs to the control thread, which fills and compares memory
 * between the phases while the workers are idle; during a phase each core's thread works alone.
 *
 * <p>Ownership: the initiator owns its device, channel, workers and the memory that it exports.
 */
@NullMarked
package io.softdpu.storage.initiator;

import org.jspecify.annotations.NullMarked;
