/**
 * Capability source of block devices, for the uniform capability queries of core. Used by
 * ServiceLoader only; it has the values of {@link io.softdpu.block.BlockCapabilities}. Holds no
 * state; any thread.
 */
@NullMarked
package io.softdpu.block.capability;

import org.jspecify.annotations.NullMarked;
