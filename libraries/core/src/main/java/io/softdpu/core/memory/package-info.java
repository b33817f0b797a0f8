/**
 * Memory that devices work on (Core guide, section 3.3).
 *
 * <p>The layers, from below: {@link io.softdpu.core.memory.SharedMemory} is memory that other
 * programs can be given, {@link io.softdpu.core.memory.LocalMemory} is not; the program owns both.
 * An {@link io.softdpu.core.memory.Mmap} makes one range of memory known to devices, with {@link
 * io.softdpu.core.memory.Permissions}; it can be exported as a blob, and made from one on the other
 * side. A {@link io.softdpu.core.memory.Buf} is a description of a part of an mmap; several can be
 * chained into a list. Each keeps what is below it open, so the order of closing is bufs,
 * inventories and mmaps, memory; another order is refused and never a wrong access.
 *
 * <p>Bufs come from one of three, and are the same afterwards:
 *
 * <table>
 * <caption>Where bufs come from</caption>
 * <tr><th>type<th>mmaps<th>place and size<th>when
 * <tr><td>{@link io.softdpu.core.memory.BufInventory}<td>any, named for each buf<td>any, named for
 *     each buf<td>nearly always
 * <tr><td>{@link io.softdpu.core.memory.BufPool}<td>one<td>one size; the pool chooses the place, and
 *     no two overlap<td>where the place is of no importance
 * <tr><td>{@link io.softdpu.core.memory.BufArray}<td>one<td>one size, one behind the other<td>where
 *     a number names the place
 * </table>
 *
 * <p>Places in memory are offsets in the range of the mmap, not addresses: an offset means the same
 * on both sides, and for memory that is not mapped at all.
 *
 * <p>Threads: memory and mmaps may be used by any thread; an inventory, a pool, an array and its
 * bufs by one at a time. After their creation none of them allocates anything.
 *
 * <p>{@code Mmap} and {@code Buf} are longer than the other classes of this project: each is the
 * whole of one type of the guide, {@code doca_mmap} and {@code doca_buf} with its lists, with some
 * 25 operations; a third of their text says what these promise, and most of the rest checks states.
 * The work is done elsewhere: for an mmap by {@code MmapRange} (the memory), {@code MmapUsers} (the
 * count that keeps it open), {@code MmapDevices}, {@code MmapExports}, {@code MmapImport} and
 * {@code MmapOrigin}, for a buf by {@code BufList} and its {@code BufOwner}.
 */
@NullMarked
package io.softdpu.core.memory;

import org.jspecify.annotations.NullMarked;
