package io.softdpu.samples;

import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.RdmaOpcode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Text that an RDMA sample transfers: UTF-8, ended by a byte 0 as in C, so that a reader of the
 * memory finds its end.
 *
 * @param text 1 to 256 bytes as UTF-8
 */
record RdmaText(String text) {
    /** What is transferred unless the user gives another. */
    static final String DEFAULT = "Hi DOCA RDMA!";

    /** The immediate value that accompanies it in the samples with one. */
    static final int IMMEDIATE = 0x12345678;

    /** The longest text, in bytes. */
    static final int MAX_BYTES = 256;

    /** Size of the memory for any text, with its end. */
    static final int MEMORY_BYTES = MAX_BYTES + 1;

    /**
     * The text that the user gave, or the default.
     *
     * @throws SampleUsageException if it is empty or too long
     */
    static RdmaText of(SampleSettings settings, SampleOption option) {
        RdmaText given = new RdmaText(settings.value(option, DEFAULT));
        int lengthBytes = given.sizeBytes();
        if (lengthBytes < 1 || lengthBytes > MAX_BYTES) {
            throw new SampleUsageException(
                    Text.format(
                            "length of the text is illegal: option=--%s, lengthBytes=%d, expected=1"
                                    + " to %d",
                            option.longName(), lengthBytes, MAX_BYTES));
        }
        return given;
    }

    /**
     * Verifies what a peer has put into memory, which the peer may still change: a copy is.
     *
     * @throws WrongDataException if it is no text with its end
     */
    static RdmaText verified(MemorySegment memory) {
        byte[] bytes = memory.toArray(ValueLayout.JAVA_BYTE);
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        if (end == 0 || end == bytes.length) {
            throw new WrongDataException(
                    Text.format(
                            "memory holds no text of the peer: bytes=%d, textBytes=%d, expected=a"
                                    + " text of 1 to %d bytes and a byte 0",
                            bytes.length, end, bytes.length - 1));
        }
        try {
            return new RdmaText(
                    StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(bytes, 0, end))
                            .toString());
        } catch (CharacterCodingException e) {
            throw notUtf8(end, e);
        }
    }

    private static WrongDataException notUtf8(int bytes, CharacterCodingException cause) {
        return new WrongDataException("text of the peer is not UTF-8: bytes=" + bytes, cause);
    }

    /**
     * Verifies a text of which the number of bytes, with its end, is known.
     *
     * @throws WrongDataException if it is no text that ends there
     */
    static RdmaText verified(MemorySegment memory, long transferredBytes) {
        RdmaText text = verified(memory.asSlice(0, Math.min(memory.byteSize(), transferredBytes)));
        if (text.sizeBytes() + 1 != transferredBytes) {
            throw new WrongDataException(
                    Text.format(
                            "text of the peer does not end where the data does: textBytes=%d,"
                                    + " bytes=%d, expected=a byte 0 at the end alone",
                            text.sizeBytes(), transferredBytes));
        }
        return text;
    }

    /**
     * Verifies the immediate value.
     *
     * @throws WrongDataException if it is another
     */
    static void verifyImmediate(int immediate) {
        if (immediate != IMMEDIATE) {
            throw new WrongDataException(
                    Text.format(
                            "immediate value of the peer is wrong: immediate=%#x, expected=%#x",
                            immediate, IMMEDIATE));
        }
    }

    /**
     * Verifies which operation of the peer has completed a receive.
     *
     * @throws WrongDataException if it is another
     */
    static void verifyOpcode(RdmaOpcode opcode, RdmaOpcode expected) {
        if (opcode != expected) {
            throw new WrongDataException(
                    Text.format(
                            "operation of the peer is another: opcode=%s, expected=%s",
                            opcode, expected));
        }
    }

    /** Number of bytes, without its end. */
    int sizeBytes() {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** Number of bytes that are transferred, with its end. */
    int transferBytes() {
        return sizeBytes() + 1;
    }

    /** Puts it and its end into memory. */
    void fill(MemorySegment memory) {
        memory.fill((byte) 0);
        memory.copyFrom(MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * A line about it.
     *
     * @param what was done with it: {@code sent}
     */
    String line(String what) {
        return line(what, null);
    }

    /** A line about it and an immediate value. */
    String line(String what, @Nullable Integer immediate) {
        return what
                + ": bytes="
                + sizeBytes()
                + (immediate == null ? "" : ", immediate=" + Text.format("%#x", immediate))
                + ", text="
                + ForeignText.escape(text);
    }
}
