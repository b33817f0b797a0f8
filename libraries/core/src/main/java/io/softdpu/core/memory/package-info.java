/**
 * Memory for devices (Core guide, section 3.3): memory that programs share, mmaps that give devices
 * access to it, and bufs that describe its parts. Start with {@link io.softdpu.core.memory.Mmap}
 * and {@link io.softdpu.core.memory.BufInventory}.
 *
 * <p>The layers, from below: {@link io.softdpu.core.memory.SharedMemory} can be shared with other
 * programs, {@link io.softdpu.core.memory.LocalMemory} cannot; the program owns both. An {@link
 * io.softdpu.core.memory.Mmap} gives devices access to one range of memory, with {@link
 * io.softdpu.core.memory.Permissions}; it can be exported as a blob, and imported from one by the
 * peer. A {@link io.softdpu.core.memory.Buf} is a description of a part of an mmap; several can be
 * chained into a list. Each keeps what is below it open, so the order of closing is bufs,
 * inventories and mmaps, memory; another order is refused.
 *
 * <p>Bufs come from one of three sources, and behave the same afterwards:
 *
 * <table>
 * <caption>Where bufs come from</caption>
 * <tr><th>type<th>mmaps<th>place and size<th>when
 * <tr><td>{@link io.softdpu.core.memory.BufInventory}<td>any, given per buf<td>any, given per
 *     buf<td>nearly always
 * <tr><td>{@link io.softdpu.core.memory.BufPool}<td>one<td>one size; the pool chooses the offset,
 *     without overlap<td>if the offset does not matter
 * <tr><td>{@link io.softdpu.core.memory.BufArray}<td>one<td>one size, adjacent<td>if an index
 *     selects the buf
 * </table>
 *
 * <p>Positions are offsets in the range of the mmap, not addresses: an offset is the same on both
 * sides, and valid for memory that is not mapped.
 *
 * <p>Threads: memory and mmaps may be used by any thread; an inventory, a pool, an array and its
 * bufs by one at a time. After their creation none of them allocates anything.
 *
 * <p>{@code Mmap} and {@code Buf} are longer than the other classes of this project: each
 * implements one type of the guide, {@code doca_mmap} and {@code doca_buf} with its lists, with
 * some 25 operations; a third of their text is documentation, and most of the rest checks states.
 * The work is delegated: for an mmap by {@code MmapRange} (the memory), {@code MmapUsers} (the
 * count that keeps it open), {@code MmapDevices}, {@code MmapExports}, {@code MmapImport} and
 * {@code MmapOrigin}, for a buf by {@code BufList} and its {@code BufOwner}.
 */
@NullMarked
package io.softdpu.core.memory;

import org.jspecify.annotations.NullMarked;
