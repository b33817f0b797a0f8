/**
 * Devices: the topology of the card, a machine, its devices, and the representors of the functions
 * that a DPU has created (Core guide, section 3.2).
 *
 * <p>Start with {@link io.softdpu.core.device.Machine#open}.
 *
 * <p>{@link io.softdpu.core.device.Topology} and what it consists of are values. A list of {@link
 * io.softdpu.core.device.DeviceInfo}s or {@link io.softdpu.core.device.RepresentorInfo}s is a
 * snapshot that keeps nothing open; a {@link io.softdpu.core.device.Device} or {@link
 * io.softdpu.core.device.Representor} is opened from one, keeps its machine open, and is closed by
 * the program, which fails while a started mmap or context uses it. Any thread.
 */
@NullMarked
package io.softdpu.core.device;

import org.jspecify.annotations.NullMarked;
