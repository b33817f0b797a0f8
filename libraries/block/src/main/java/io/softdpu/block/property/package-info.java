/**
 * Properties of block devices: {@linkplain io.softdpu.block.property.BlockProperties sizes and
 * limits}, {@linkplain io.softdpu.block.property.BlockFeature features}, and {@linkplain
 * io.softdpu.block.property.BlockIdentity identity}. Users read them from a {@code BlockDevice}, a
 * provider states them for its devices.
 *
 * <p>Values, immutable; any thread.
 */
@NullMarked
package io.softdpu.block.property;

import org.jspecify.annotations.NullMarked;
