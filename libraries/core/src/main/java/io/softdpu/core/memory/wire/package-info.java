/**
 * Format of an mmap's export blob: bytes in, values out. No memory is opened here, nothing is
 * looked up, and every value is legal. Any thread.
 */
@NullMarked
package io.softdpu.core.memory.wire;

import org.jspecify.annotations.NullMarked;
