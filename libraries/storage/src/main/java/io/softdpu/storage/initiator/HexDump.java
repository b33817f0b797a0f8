package io.softdpu.storage.initiator;

import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Formats bytes in lines of 16: offset, hexadecimal, and printable characters. */
final class HexDump {
    private static final int LINE_BYTES = 16;

    private HexDump() {}

    /**
     * Appends the lines.
     *
     * @param from first byte, a multiple of 16
     * @param to end, exclusive
     * @param base added to the offsets that are shown
     */
    static void append(StringBuilder out, MemorySegment bytes, long from, long to, long base) {
        for (long line = from; line < to; line += LINE_BYTES) {
            out.append(Text.format("%012x ", base + line));
            StringBuilder text = new StringBuilder();
            for (long at = line; at < line + LINE_BYTES; at++) {
                if (at >= to) {
                    out.append("   ");
                    continue;
                }
                byte value = bytes.get(ValueLayout.JAVA_BYTE, at);
                out.append(Text.format(" %02x", value));
                text.append(value >= 0x20 && value < 0x7F ? (char) value : '.');
            }
            out.append("  |").append(text).append('|').append(System.lineSeparator());
        }
    }
}
