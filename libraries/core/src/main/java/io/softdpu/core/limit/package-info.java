/**
 * Check of the limits of a topology against those of the libraries; loaded by ServiceLoader, so
 * that the packages below {@code capability} can use it. Not exported. Holds no state; any thread.
 */
@NullMarked
package io.softdpu.core.limit;

import org.jspecify.annotations.NullMarked;
