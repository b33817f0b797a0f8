/**
 * Access of {@code core.sync.spi} to internals of {@code core.sync}, which installs it when it is
 * loaded. Not exported.
 *
 * <p><b>Threads.</b> Any. <b>Ownership.</b> Nothing is held.
 */
@NullMarked
package io.softdpu.core.sync.access;

import org.jspecify.annotations.NullMarked;
