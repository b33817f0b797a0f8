/**
 * What the libraries can do on a device (Core guide, section "DOCA Backward Compatibility": the
 * capability queries), asked in one way for all of them.
 *
 * <p>{@link io.softdpu.core.capability.Capabilities} answers for a library by its name; each
 * library also has a class of its own with a getter for each value, and both tell the same. A
 * library takes part by a {@link io.softdpu.core.capability.CapabilitySource}, found by
 * ServiceLoader, which also declares what a topology can lower; core knows no limit of a library by
 * name. All of it are values, taken without opening the device. Any thread.
 */
@NullMarked
package io.softdpu.core.capability;

import org.jspecify.annotations.NullMarked;
