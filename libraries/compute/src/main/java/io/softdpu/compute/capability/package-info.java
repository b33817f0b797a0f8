/**
 * The part of the acceleration libraries in the uniform capability queries of core. For
 * ServiceLoader alone; it repeats what {@link io.softdpu.compute.DmaCapabilities} tells. Holds no
 * state; any thread.
 */
@NullMarked
package io.softdpu.compute.capability;

import org.jspecify.annotations.NullMarked;
