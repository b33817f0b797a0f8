/**
 * Wait strategies of progress engines. Not exported.
 *
 * <p>An engine has one {@link io.softdpu.core.internal.wait.WaitStrategy} selected by the number of
 * pollers: {@link io.softdpu.core.internal.wait.SpinYieldSleepWait} if each has its own processor,
 * else {@link io.softdpu.core.internal.wait.YieldSleepWait}. A strategy does not depend on
 * contexts; it uses the engine as a {@link io.softdpu.core.internal.wait.Waitable}. The prediction
 * of the wait's length, the short spin before it, and the affinity of the waiting thread are
 * separate objects.
 *
 * <p>Threads: a strategy belongs to the thread of its engine. Waiting allocates nothing; moving a
 * thread between processors does.
 */
@NullMarked
package io.softdpu.core.internal.wait;

import org.jspecify.annotations.NullMarked;
