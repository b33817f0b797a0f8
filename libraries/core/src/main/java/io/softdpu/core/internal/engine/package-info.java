/**
 * Implementation of progress engines ({@link io.softdpu.core.internal.engine.EngineCore}) and work
 * queues ({@link io.softdpu.core.internal.engine.QueueCore}). Exported to nobody.
 *
 * <p>Both see a context as a member, which {@code core.spi} implements, and know none of the public
 * types above: {@code core.execution} is a face of this package.
 *
 * <p>Threads: an engine and a queue belong to the thread that made them, with their members. After
 * their start they allocate nothing, take no lock and make no system call while they poll.
 */
@NullMarked
package io.softdpu.core.internal.engine;

import org.jspecify.annotations.NullMarked;
