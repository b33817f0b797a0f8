/**
 * Waiting of progress engines. Exported to nobody.
 *
 * <p>An engine has one {@link io.softdpu.core.internal.wait.WaitStrategy} for its life, chosen by
 * the number of pollers: {@link io.softdpu.core.internal.wait.SpinYieldSleepWait} where each has a
 * processor of its own, else {@link io.softdpu.core.internal.wait.YieldSleepWait}. A strategy knows
 * nothing of contexts; it sees the engine as a {@link io.softdpu.core.internal.wait.Waitable}. The
 * parts of a wait are objects of their own: the prediction of its length, the short spin before it,
 * and the affinity of the waiting thread, which its yields may change.
 *
 * <p>Threads: a strategy belongs to the thread of its engine. Waiting allocates nothing; moving a
 * thread between processors does.
 */
@NullMarked
package io.softdpu.core.internal.wait;

import org.jspecify.annotations.NullMarked;
