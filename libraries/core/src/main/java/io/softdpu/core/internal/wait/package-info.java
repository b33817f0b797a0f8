/**
 * Waiting of progress engines. Not exported.
 *
 * <p>An engine has an {@link io.softdpu.core.internal.wait.AdaptiveWait}, which does not depend on
 * contexts: it uses the engine as a {@link io.softdpu.core.internal.wait.Waitable}. The prediction
 * of the wait's length, the short spin before it, the polls between its yields, the waits without
 * yields, and the affinity of the waiting thread are separate objects.
 *
 * <p>Threads: a wait belongs to the thread of its engine. Waiting allocates nothing; moving a
 * thread between processors does.
 */
@NullMarked
package io.softdpu.core.internal.wait;

import org.jspecify.annotations.NullMarked;
