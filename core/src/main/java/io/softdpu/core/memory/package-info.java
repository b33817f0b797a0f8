/**
 * Memory that devices work on (Core guide, section 3.3).
 *
 * <p>The layers, from below: {@link io.softdpu.core.memory.SharedMemory} is memory that other
 * programs can be given; the program owns it. An {@link io.softdpu.core.memory.Mmap} makes one
 * range of memory known to devices, with {@link io.softdpu.core.memory.Permissions}; it can be
 * exported as a blob, and made from one on the other side. A {@link io.softdpu.core.memory.Buf} is
 * a description of a part of an mmap, handed out by a {@link io.softdpu.core.memory.BufInventory}.
 * Each keeps what is below it open, so the order of closing is bufs, inventories and mmaps, memory;
 * another order is refused and never a wrong access.
 *
 * <p>Places in memory are offsets in the range of the mmap, not addresses: an offset means the same
 * on both sides, and for memory that is not mapped at all.
 *
 * <p>Threads: memory and mmaps may be used by any thread; an inventory and its bufs by one at a
 * time.
 */
@NullMarked
package io.softdpu.core.memory;

import org.jspecify.annotations.NullMarked;
