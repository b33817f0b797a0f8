/**
 * Wire formats of the storage applications: control messages and io_messages.
 *
 * <p>Role: this package encodes and decodes the formats of {@code docs/wire/storage.md}, without
 * I/O, clock or threads. Start with {@link io.softdpu.storage.wire.ControlCodec} for control
 * messages and {@link io.softdpu.storage.wire.IoMessageView} for io_messages. A frame is checked
 * once, when it is decoded; the result is a record that can hold legal values only, and an error
 * names the field, its value and the expected value.
 *
 * <p>Thread rule: everything is immutable or static, apart from {@link
 * io.softdpu.storage.wire.FrameAssembler}, which belongs to one thread.
 *
 * <p>Ownership: decoders copy; no record refers to the memory that it was decoded from. Only {@link
 * io.softdpu.storage.wire.IoMessageView} works in place, on memory that its caller owns.
 */
@NullMarked
package io.softdpu.storage.wire;

import org.jspecify.annotations.NullMarked;
