/**
 * The form of an mmap's export blob, byte for byte: bytes in, values out. No memory is opened here,
 * nothing is looked up, and a value that exists is a legal one. Any thread.
 */
@NullMarked
package io.softdpu.core.memory.wire;

import org.jspecify.annotations.NullMarked;
