/**
 * The bytes of the Comm Channel: the payloads of the handshake ({@link
 * io.softdpu.comch.wire.Hello}, {@link io.softdpu.comch.wire.Welcome}), the types and words of ring
 * messages ({@link io.softdpu.comch.wire.MessageType}, {@link io.softdpu.comch.wire.ControlWord})
 * and the announcement of a consumer. {@code docs/wire/comch.md} has them byte for byte.
 *
 * <p>Pure: bytes in, values out; no I/O, no clock, no state, so any thread. A value holds legal
 * contents only; whoever decodes hands in private memory, since the peer may change shared memory
 * between two looks at it. All integers are little-endian.
 */
@NullMarked
package io.softdpu.comch.wire;

import org.jspecify.annotations.NullMarked;
