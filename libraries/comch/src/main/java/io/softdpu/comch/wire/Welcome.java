package io.softdpu.comch.wire;

import io.softdpu.core.DpuException;
import java.lang.foreign.MemorySegment;

/**
 * The server's handshake payload: the same first 24 bytes as a {@link Hello}, with kind 2, and
 * nothing else. A refusal has no such payload: it is sent as a refusal of the bus, with a status
 * and a reason.
 *
 * @param terms of the server
 */
public record Welcome(ChannelTerms terms) {
    /** Size of the encoded form. */
    public static final int WIRE_BYTES = Preamble.WIRE_BYTES;

    /** Writes {@link #WIRE_BYTES} bytes from the segment's start. */
    public void encode(MemorySegment bytes) {
        Preamble.encode(bytes, Preamble.KIND_WELCOME, terms);
    }

    /** The encoded form in an array of its own. */
    public byte[] toBytes() {
        byte[] bytes = new byte[WIRE_BYTES];
        encode(MemorySegment.ofArray(bytes));
        return bytes;
    }

    /**
     * Reads a welcome.
     *
     * @throws DpuException INVALID_VALUE if it is malformed, UNSUPPORTED_VERSION for another
     *     version
     */
    public static Welcome decode(byte[] payload) {
        if (payload.length != WIRE_BYTES) {
            throw Preamble.refused("lengthBytes", payload.length, Integer.toString(WIRE_BYTES));
        }
        return new Welcome(Preamble.decode(MemorySegment.ofArray(payload), Preamble.KIND_WELCOME));
    }
}
