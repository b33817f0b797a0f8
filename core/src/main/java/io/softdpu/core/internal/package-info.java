/**
 * The back stairs between the packages of this module; exported to nobody.
 *
 * <p>The public packages keep their internals package-private. Where one of them needs those of
 * another ({@code execution} the ones of {@code spi}), the owner hands over an {@code ...Access}
 * object in its static initialiser and the other fetches it here; in the JDK this pattern is called
 * shared secrets. The package also holds the {@link io.softdpu.core.internal.EngineCore} behind a
 * progress engine with its {@link io.softdpu.core.internal.WaitStrategy}. What the packages below
 * use as well is in {@code internal.base}.
 *
 * <p>Threads: access objects may be used by any thread; an engine core belongs to the thread that
 * made it.
 */
@NullMarked
package io.softdpu.core.internal;

import org.jspecify.annotations.NullMarked;
