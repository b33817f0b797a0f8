/**
 * Volumes that storage targets serve.
 *
 * <p>Role: a {@link io.softdpu.storage.backend.Volume} is a range of blocks that the target's RDMA
 * tasks read and write in place. Start with {@link io.softdpu.storage.backend.MemoryVolume}, which
 * keeps it in memory.
 *
 * <p>Thread rule: a volume is created, attached and closed by one thread at a time; while it is
 * attached the target's workers access its memory, and overlapping requests are executed in no
 * particular order, as on a disk.
 *
 * <p>Ownership: a volume that is passed to a target belongs to the target, which closes it.
 */
@NullMarked
package io.softdpu.storage.backend;

import org.jspecify.annotations.NullMarked;
