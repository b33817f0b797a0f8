/**
 * Access of one package of this module to internals of another. Not exported.
 *
 * <p>The public packages keep their internals package-private. Where a package above needs those of
 * one below, or of one that it cannot import without a cycle, the owner installs an {@code
 * ...Access} object in its static initialiser and the other fetches it here; in the JDK this
 * pattern is called shared secrets. An access class is below its owner: the classes of the owner
 * are type parameters of it, which the owner's {@code install} fixes and {@code of} checks.
 *
 * <p>Threads: access objects are installed once, when their owner is loaded, and may be used by any
 * thread.
 */
@NullMarked
package io.softdpu.core.internal.access;

import org.jspecify.annotations.NullMarked;
