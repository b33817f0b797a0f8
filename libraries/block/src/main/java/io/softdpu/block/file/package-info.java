/**
 * Provider of block devices in files and in block devices of the machine. Used by ServiceLoader
 * only; begins at {@link io.softdpu.block.file.FileProvider}.
 *
 * <p>A request is a series of steps, each one system call: {@link
 * io.softdpu.block.file.StepChannel} decides which comes next, and its subclasses have them done,
 * by io_uring or by threads of the device. What has to be durable ends with a sync, of which each
 * channel makes one at a time for all that wait ({@link io.softdpu.block.file.SyncGroup}). What a
 * device knows of a loss is in {@link io.softdpu.block.file.VolumeLoss}.
 *
 * <p><b>Thread.</b> A device is for any thread, a channel for that of its engine. Threads of the
 * device do single steps ({@link io.softdpu.block.file.StepCalls}), and report them by a queue of
 * completions.
 *
 * <p><b>Ownership.</b> A device owns the claim and the lock of its file, an open file that is told
 * of losses before any context has one, and its threads. Each channel owns an open file of its own,
 * with a lock, which it closes when no request uses it.
 */
@NullMarked
package io.softdpu.block.file;

import org.jspecify.annotations.NullMarked;
