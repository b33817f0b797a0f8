/**
 * Asynchronous block devices. {@link io.softdpu.block.BlockDevice#open} opens one by its URI; after
 * {@link io.softdpu.block.BlockDevice#attach} it creates a {@link io.softdpu.block.BlockContext}
 * for each core, whose tasks read, write, flush, discard, zero and examine blocks.
 *
 * <pre>{@code
 * BlockDevice volume = BlockDevice.open("memory:64MiB");
 * volume.attach(device);
 * BlockContext context = volume.createContext();
 * context.setReadTasks(32, task -> ..., task -> ...);
 * engine.start(context);
 * context.allocateRead(0, 4096, buf).submit();
 * }</pre>
 *
 * <p>The rules of the contract, which hold for every device:
 *
 * <ul>
 *   <li>A completed write is seen by every read that is submitted later, in every context.
 *   <li>Tasks in flight that overlap have no order; the blocks in which they do are undefined until
 *       the next write.
 *   <li>A flush covers every write that had completed in any context of the device before the flush
 *       was submitted. A write with FUA covers itself.
 *   <li>After a flush or a write with FUA that has failed with IO_FAILED, all of them fail so until
 *       the device is opened again, in every context, and the device has another {@linkplain
 *       io.softdpu.block.property.BlockIdentity identity}. Reads and other writes continue.
 *   <li>A task that has succeeded has done all that it was asked. The bytes of a failed read do not
 *       become data of its buf; a failed write leaves each of its blocks old or new.
 *   <li>A failure of a task is that of this task alone, and the context continues.
 * </ul>
 *
 * <p><b>Thread.</b> A device is for any thread. A context and its tasks belong to the thread of the
 * progress engine; callbacks run inside {@code progress()}.
 *
 * <p><b>Ownership.</b> A device stays open while contexts are started. The context owns the pools
 * of its tasks. From submit to callback a task and its buf belong to the context. After start
 * nothing is allocated.
 *
 * <p><b>Arguments.</b> An argument that is null (unless the method allows null), out of range, or
 * closed is refused with a {@link io.softdpu.core.DpuException} before any change: INVALID_VALUE,
 * naming the argument, or the status that the method documents. No other exception leaves this
 * package, except those thrown by callbacks of the user.
 */
@NullMarked
package io.softdpu.block;

import org.jspecify.annotations.NullMarked;
