/**
 * Capability source of the acceleration libraries, for the uniform capability queries of core. Used
 * by ServiceLoader only; it has the values of {@link io.softdpu.compute.DmaCapabilities}. Holds no
 * state; any thread.
 */
@NullMarked
package io.softdpu.compute.capability;

import org.jspecify.annotations.NullMarked;
