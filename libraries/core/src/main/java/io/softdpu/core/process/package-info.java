/**
 * Processes that a process of softdpu starts: their end with their parent, the folder that they
 * share, and their output. For the measuring programs, the command and {@code io.softdpu.junit}.
 *
 * <p>A parent {@linkplain io.softdpu.core.process.SharedFolder#create makes} a folder, whose lock
 * it holds until it ends, by whatever it ends. Each child starts a {@link
 * io.softdpu.core.process.ParentWatch}, which waits for this lock.
 *
 * <p>A folder and a watch may be used from any thread; a {@link io.softdpu.core.process.LineReader}
 * belongs to one. The parent owns the folder and its lock, the watch its descriptor.
 */
@NullMarked
package io.softdpu.core.process;

import org.jspecify.annotations.NullMarked;
