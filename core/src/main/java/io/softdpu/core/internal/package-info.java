/**
 * The back stairs between the packages of this module; exported to nobody.
 *
 * <p>The public packages keep their internals package-private. Where one of them needs those of
 * another ({@code execution} the ones of {@code spi}, {@code spi} the ones of {@code memory}), the
 * owner hands over an {@code ...Access} object in its static initialiser and the other fetches it
 * here; in the JDK this pattern is called shared secrets. The package also holds what several of
 * them share: the {@link io.softdpu.core.internal.Usage} count that keeps a thing open while
 * something lives on it, and the {@link io.softdpu.core.internal.EngineCore} behind a progress
 * engine with its {@link io.softdpu.core.internal.WaitStrategy}.
 *
 * <p>{@link io.softdpu.core.internal.ProfileCheck} is the one service of this module to itself.
 *
 * <p>Threads: access objects and usage counts may be used by any thread; an engine core belongs to
 * the thread that made it.
 */
@NullMarked
package io.softdpu.core.internal;

import org.jspecify.annotations.NullMarked;
