package io.softdpu.core;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Where a program stands: which machine's devices it sees. */
public enum Side {
    /** The host: sees the physical and virtual functions that the card shows to it. */
    HOST,
    /** The DPU: sees the card's own ports, its sub functions, and representors. */
    DPU,
    /** A machine of its own, reached through the network only, such as a storage target. */
    TARGET;

    private final String id = name().toLowerCase(Locale.ROOT);

    /**
     * The word for this side on a command line and in a topology: {@code host}, {@code dpu}, {@code
     * target}.
     */
    public String id() {
        return id;
    }

    /**
     * The side that a word names; upper and lower case are the same.
     *
     * @throws DpuException INVALID_VALUE for any other word, naming those that there are
     */
    public static Side of(String word) {
        NotNull.check(word, "word");
        for (Side side : values()) {
            if (side.id.equals(word.toLowerCase(Locale.ROOT))) {
                return side;
            }
        }
        String known = Arrays.stream(values()).map(Side::id).collect(Collectors.joining(", "));
        throw new DpuException(
                Status.INVALID_VALUE, "no such side: side=" + word + ", available=[" + known + "]");
    }
}
