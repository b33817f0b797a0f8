/**
 * Uniform capability queries (Core guide, section "DOCA Backward Compatibility"): the capabilities
 * of each library on a device.
 *
 * <p>Start with {@link io.softdpu.core.capability.Capabilities}, those of a library by its name;
 * each library also has a class of its own with a getter per value, with the same results. A
 * library provides a {@link io.softdpu.core.capability.CapabilitySource}, found by ServiceLoader,
 * which also declares the limits that a topology can lower; core does not contain names of limits
 * of libraries. All results are values, and the device need not be open. Any thread.
 */
@NullMarked
package io.softdpu.core.capability;

import org.jspecify.annotations.NullMarked;
