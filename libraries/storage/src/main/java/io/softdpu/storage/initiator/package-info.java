/**
 * Storage initiator on the host: reads and writes a storage through a zero-copy service.
 *
 * <p>Role: start with {@link io.softdpu.storage.initiator.StorageInitiator}. It exports its memory,
 * opens a session and runs a {@link io.softdpu.storage.workload.Workload} in it, phase by phase.
 * The result of each is a {@link io.softdpu.storage.initiator.PhaseReport}.
 *
 * <p>Thread rule: {@code run} belongs to the control thread, which fills and compares memory
 * between the phases while the workers are idle; during a phase each worker runs on its own thread.
 *
 * <p>Ownership: the initiator owns its device, channel, workers and the memory that it exports.
 */
@NullMarked
package io.softdpu.storage.initiator;

import org.jspecify.annotations.NullMarked;
