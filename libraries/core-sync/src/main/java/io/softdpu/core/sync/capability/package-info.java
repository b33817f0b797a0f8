/**
 * Capability source of sync events, for the uniform capability queries of core. Used by
 * ServiceLoader only; it has the values of {@link io.softdpu.core.sync.SyncEventCapabilities}.
 * Holds no state; any thread.
 */
@NullMarked
package io.softdpu.core.sync.capability;

import org.jspecify.annotations.NullMarked;
