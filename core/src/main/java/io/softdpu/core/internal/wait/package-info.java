/**
 * Waiting of progress engines: polling, yielding and sleeping, and the soft affinity of the waiting
 * thread. Exported to nobody. Knows nothing of contexts; what is waited for is a {@link
 * io.softdpu.core.internal.wait.WaitStrategy.Waiter}.
 *
 * <p>Threads: a strategy belongs to the thread of its engine. Waiting allocates nothing; moving a
 * thread between processors does.
 */
@NullMarked
package io.softdpu.core.internal.wait;

import org.jspecify.annotations.NullMarked;
