/**
 * Providers of block devices whose requests end in the engine's own passes: blocks in memory,
 * filled with a pattern or copied from a file, and no blocks at all. Found by ServiceLoader; the
 * storage pipeline uses the {@link io.softdpu.block.memory.Pattern}, too.
 *
 * <p><b>Thread.</b> Devices are for any thread, a channel for that of its engine. Channels of one
 * device share its memory and nothing else.
 */
@NullMarked
package io.softdpu.block.memory;

import org.jspecify.annotations.NullMarked;
