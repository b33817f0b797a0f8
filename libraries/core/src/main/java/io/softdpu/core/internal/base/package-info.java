/**
 * Helpers for all packages of this module but {@code io.softdpu.core}, whose types they use: the
 * {@link io.softdpu.core.internal.base.Dependents} that keep an object open, the statuses of the
 * bus's failures, and the service that checks profiles. Not exported. Any thread.
 */
@NullMarked
package io.softdpu.core.internal.base;

import org.jspecify.annotations.NullMarked;
