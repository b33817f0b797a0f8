/**
 * Helpers below all packages of this module but {@code io.softdpu.core}, whose words they use: the
 * {@link io.softdpu.core.internal.base.Usage} count that keeps a thing open while something lives
 * on it, the statuses of the bus's failures, and the service that checks profiles. Not exported.
 * Any thread.
 */
@NullMarked
package io.softdpu.core.internal.base;

import org.jspecify.annotations.NullMarked;
