/**
 * The check that the limits of a topology are those of the libraries; for ServiceLoader alone, so
 * that the packages below {@code capability} can use it. Exported to nobody. Holds no state; any
 * thread.
 */
@NullMarked
package io.softdpu.core.limit;

import org.jspecify.annotations.NullMarked;
