/**
 * Implementation of progress engines ({@link io.softdpu.core.internal.engine.EngineImpl}) and work
 * queues ({@link io.softdpu.core.internal.engine.WorkQueueImpl}). Not exported.
 *
 * <p>Both use a context as a member, which {@code core.spi} implements, and none of the public
 * types: {@code core.execution} delegates to this package.
 *
 * <p>Threads: an engine and a queue belong to the thread that created them, with their members.
 * After their start they allocate nothing, take no lock and make no system call while they poll.
 */
@NullMarked
package io.softdpu.core.internal.engine;

import org.jspecify.annotations.NullMarked;
