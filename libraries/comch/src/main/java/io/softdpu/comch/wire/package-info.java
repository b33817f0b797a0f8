/**
 * Wire formats of the Comm Channel: the payloads of the handshake ({@link
 * io.softdpu.comch.wire.Hello}, {@link io.softdpu.comch.wire.Welcome}), the types and words of ring
 * messages ({@link io.softdpu.comch.wire.MessageType}, {@link io.softdpu.comch.wire.ControlWord})
 * and the announcement of a consumer. {@code docs/wire/comch.md} specifies them byte for byte.
 *
 * <p>Pure functions without I/O, clock or state; any thread. A value holds legal contents only.
 * Decoders must be given private memory, since the peer may change shared memory between two reads.
 * All integers are little-endian.
 */
@NullMarked
package io.softdpu.comch.wire;

import org.jspecify.annotations.NullMarked;
