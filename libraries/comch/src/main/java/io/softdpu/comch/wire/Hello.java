package io.softdpu.comch.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * The client's handshake payload.
 *
 * <pre>
 *   0  preamble         24 B  kind 1, terms of the client
 *  24  function length  u32   bytes of the function's key, 1 to 128
 *  28  name length      u32   bytes of the server's name, 1 to 119
 *  32  function               UTF-8: side and interface, for example host/pf0
 *      name                   UTF-8; the last field
 * </pre>
 *
 * @param terms of the client
 * @param function the topology's key of the client's function
 * @param serverName the exact name of the server to connect to
 */
public record Hello(ChannelTerms terms, String function, String serverName) {
    private static final int MAX_FUNCTION_BYTES = 128;
    private static final int FUNCTION_LENGTH_OFFSET = Preamble.WIRE_BYTES;
    private static final int NAME_LENGTH_OFFSET = 28;
    private static final int TEXT_OFFSET = 32;

    /** Rejects an illegal function key or server name. */
    public Hello {
        requireLegal("function", function, MAX_FUNCTION_BYTES);
        requireLegalName(serverName);
    }

    /** Size of the encoded form. */
    public int sizeBytes() {
        return TEXT_OFFSET
                + function.getBytes(StandardCharsets.UTF_8).length
                + serverName.getBytes(StandardCharsets.UTF_8).length;
    }

    /** Writes {@link #sizeBytes()} bytes from the segment's start. */
    public void encode(MemorySegment bytes) {
        byte[] key = function.getBytes(StandardCharsets.UTF_8);
        byte[] name = serverName.getBytes(StandardCharsets.UTF_8);
        Preamble.encode(bytes, Preamble.KIND_HELLO, terms);
        bytes.set(Preamble.U32, FUNCTION_LENGTH_OFFSET, key.length);
        bytes.set(Preamble.U32, NAME_LENGTH_OFFSET, name.length);
        copy(key, bytes, TEXT_OFFSET);
        copy(name, bytes, TEXT_OFFSET + key.length);
    }

    /** The encoded form in an array of its own. */
    public byte[] toBytes() {
        byte[] bytes = new byte[sizeBytes()];
        encode(MemorySegment.ofArray(bytes));
        return bytes;
    }

    /**
     * Reads a hello.
     *
     * @throws DpuException INVALID_VALUE if it is malformed, UNSUPPORTED_VERSION for another
     *     version
     */
    public static Hello decode(byte[] payload) {
        MemorySegment bytes = MemorySegment.ofArray(payload);
        ChannelTerms terms = Preamble.decode(bytes, Preamble.KIND_HELLO);
        if (payload.length < TEXT_OFFSET) {
            throw Preamble.refused("lengthBytes", payload.length, "at least " + TEXT_OFFSET);
        }
        int keyLength = bytes.get(Preamble.U32, FUNCTION_LENGTH_OFFSET);
        int nameLength = bytes.get(Preamble.U32, NAME_LENGTH_OFFSET);
        if (keyLength < 1 || keyLength > MAX_FUNCTION_BYTES) {
            throw Preamble.refused("functionLength", keyLength, "1 to " + MAX_FUNCTION_BYTES);
        }
        // A negative length could compensate for a function length that exceeds the payload.
        if (nameLength < 1 || nameLength != payload.length - TEXT_OFFSET - keyLength) {
            throw Preamble.refused(
                    "nameLength",
                    nameLength,
                    Integer.toString(payload.length - TEXT_OFFSET - keyLength));
        }
        return new Hello(
                terms,
                text(payload, TEXT_OFFSET, keyLength),
                text(payload, TEXT_OFFSET + keyLength, nameLength));
    }

    /**
     * Checks a server name: 1 to {@link ChannelLimits#MAX_NAME_BYTES} bytes of UTF-8, no NUL.
     *
     * @throws DpuException INVALID_VALUE if it is illegal
     */
    public static void requireLegalName(String name) {
        requireLegal("server name", name, ChannelLimits.MAX_NAME_BYTES);
    }

    private static void requireLegal(String what, String text, int maximumBytes) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length < 1 || bytes.length > maximumBytes) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    what + " refused: bytes=" + bytes.length + ", expected=1 to " + maximumBytes);
        }
        // A lone surrogate is encoded as '?', so different names would become equal.
        if (text.indexOf('\0') >= 0 || !new String(bytes, StandardCharsets.UTF_8).equals(text)) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    what + " holds a NUL or a lone surrogate: bytes=" + bytes.length);
        }
    }

    private static void copy(byte[] text, MemorySegment bytes, long offset) {
        MemorySegment.copy(text, 0, bytes, ValueLayout.JAVA_BYTE, offset, text.length);
    }

    private static String text(byte[] payload, int offset, int length) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(payload, offset, length))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new DpuException(
                    Status.INVALID_VALUE, "handshake refused: not UTF-8, offsetBytes=" + offset, e);
        }
    }
}
