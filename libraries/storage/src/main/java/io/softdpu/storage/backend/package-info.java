/**
 * Volumes, which storage targets serve.
 *
 * <p>Role: a {@link io.softdpu.storage.backend.Volume} is a range of blocks that the target's RDMA
 * tasks read and write in place. {@link io.softdpu.storage.backend.MemoryVolume} keeps it in
 * memory.
 *
 * <p>Thread rule: a volume is made, attached and closed by one thread at a time; while it is
 * attached its memory is used by the target's workers, and overlapping requests meet in it as they
 * would on a disk: in no particular order.
 *
 * <p>Ownership: the target that a volume is given to closes it.
 */
@NullMarked
package io.softdpu.storage.backend;

import org.jspecify.annotations.NullMarked;
