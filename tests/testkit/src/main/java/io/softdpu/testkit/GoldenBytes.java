package io.softdpu.testkit;

import java.util.HexFormat;

/**
 * Golden bytes of a wire format, and what comes in their place from a peer that is hostile, for the
 * tests of a decoder.
 */
public final class GoldenBytes {
    /** Longer than each format that is tested by it. */
    private static final int MAX_RANDOM_BYTES = 200;

    private final byte[] bytes;

    private GoldenBytes(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * The bytes of a text.
     *
     * @param hex two digits each; spaces between fields do not count
     * @return the bytes
     */
    public static GoldenBytes of(String hex) {
        return new GoldenBytes(HexFormat.of().parseHex(hex.replace(" ", "")));
    }

    /**
     * The bytes as they are.
     *
     * @return a new array
     */
    public byte[] bytes() {
        return bytes.clone();
    }

    /**
     * The bytes with others from an offset on.
     *
     * @param offset of the first that is replaced
     * @param hex two digits for each byte that is replaced
     * @return a new array
     */
    public byte[] with(int offset, String hex) {
        byte[] changed = bytes();
        byte[] others = HexFormat.of().parseHex(hex);
        System.arraycopy(others, 0, changed, offset, others.length);
        return changed;
    }

    /**
     * The bytes with some damage, or in half of the cases other bytes of any length.
     *
     * @param random which
     * @return a new array
     */
    public byte[] hostile(SeededRandom random) {
        return random.nextBoolean()
                ? random.damaged(bytes)
                : random.bytes(random.nextInt(MAX_RANDOM_BYTES));
    }

    /** The bytes in hex digits. */
    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
