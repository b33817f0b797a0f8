package io.softdpu.block.contract;

import io.softdpu.linux.text.Text;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes and flushes that a {@link FileKillProgram} has acknowledged before it was killed, and what
 * they say about the bytes that are found then.
 */
final class Acknowledgements {
    /** Number of blocks. */
    static final int BLOCKS = 64;

    /** Size of a block: several sectors, of which a kill may leave some. */
    static final int BLOCK_BYTES = 4096;

    /** Size of all blocks in bytes. */
    static final int BYTES = BLOCKS * BLOCK_BYTES;

    /** Line behind a flush. */
    static final String FLUSH = "flush";

    /** Last word of the line behind a write with FUA. */
    static final String FUA = "fua";

    private static final int SECTOR_BYTES = 512;

    private final long[] written = new long[BLOCKS];
    private final long[] durable = new long[BLOCKS];
    private long last;

    /**
     * Reads the lines of a program.
     *
     * @param lines whole ones, the last acknowledgement may be missing
     */
    Acknowledgements(List<String> lines) {
        for (String line : lines) {
            if (line.equals(FLUSH)) {
                System.arraycopy(written, 0, durable, 0, BLOCKS);
            } else if (line.matches("[0-9]+ [0-9]+( " + FUA + ")?")) {
                String[] words = line.split(" ");
                int block = Integer.parseInt(words[0]);
                last = Long.parseLong(words[1]);
                written[block] = last;
                if (words.length > 2) {
                    durable[block] = last;
                }
            }
        }
    }

    /** The bytes of a block that a write has this number of. */
    static byte[] content(int block, long number) {
        byte[] bytes = new byte[BLOCK_BYTES];
        ByteBuffer words = words(bytes);
        while (words.hasRemaining()) {
            words.putLong(number * BLOCKS + block);
        }
        return bytes;
    }

    private static ByteBuffer words(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ValueLayout.JAVA_LONG.order());
    }

    /**
     * The sectors that hold less than what was acknowledged, or what was never written there. One
     * write may have been under way at the end, so a sector may hold that.
     *
     * @param all the bytes of all blocks; zeros before the first write
     * @param ofCache whether only what was flushed, or written with FUA, has to be there
     */
    List<String> wrong(byte[] all, boolean ofCache) {
        List<String> wrong = new ArrayList<>();
        for (int block = 0; block < BLOCKS; block++) {
            long least = ofCache ? durable[block] : written[block];
            for (int at = 0; at < BLOCK_BYTES; at += SECTOR_BYTES) {
                long found = number(words(all), block, block * BLOCK_BYTES + at);
                boolean known = found <= written[block] || found == last + 1;
                if (found < least || !known) {
                    wrong.add(
                            Text.format(
                                    "block=%d, sectorOffset=%d, found=%d, expected=%d to %d",
                                    block, at, found, least, written[block]));
                }
            }
        }
        return wrong;
    }

    /** The number of the write that has left a sector; negative if it is not of one write. */
    private static long number(ByteBuffer all, int block, int at) {
        long word = all.getLong(at);
        for (int i = Long.BYTES; i < SECTOR_BYTES; i += Long.BYTES) {
            if (all.getLong(at + i) != word) {
                return -1;
            }
        }
        return word == 0 || word % BLOCKS == block ? word / BLOCKS : -1;
    }

    /** Number of blocks whose last acknowledged write is not there. */
    int lost(byte[] all) {
        int lost = 0;
        for (int block = 0; block < BLOCKS; block++) {
            if (number(words(all), block, block * BLOCK_BYTES) < written[block]) {
                lost++;
            }
        }
        return lost;
    }
}
