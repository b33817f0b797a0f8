/**
 * The bytes of the storage applications: control messages and io_messages.
 *
 * <p>Role: this package turns bytes into values and values into bytes, as {@code
 * docs/wire/storage.md} describes them. It is pure: no I/O, no clock, no thread of its own. A frame
 * is checked once, when it is decoded; what comes out is a record that can hold legal values only,
 * and what is refused names the field, what was found in it and what was expected.
 *
 * <p>Thread rule: everything is immutable or static, apart from {@link
 * io.softdpu.storage.wire.FrameAssembler}, which belongs to the one thread that feeds it.
 *
 * <p>Ownership: decoders copy; no record refers to the memory that it was read from. {@link
 * io.softdpu.storage.wire.IoMessageView} alone works in place, on memory that its caller owns.
 */
@NullMarked
package io.softdpu.storage.wire;

import org.jspecify.annotations.NullMarked;
