package io.softdpu.core;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Side that a program runs on, which determines the devices that it has. */
public enum Side {
    /** The host: it has the physical and virtual functions that the card provides to it. */
    HOST,
    /** The DPU: it has the card's ports, its sub functions, and representors. */
    DPU,
    /** A separate machine, reached through the network only, such as a storage target. */
    TARGET;

    private final String id = name().toLowerCase(Locale.ROOT);

    /**
     * The id of this side on a command line and in a topology: {@code host}, {@code dpu}, {@code
     * target}.
     */
    public String id() {
        return id;
    }

    /**
     * The side with this id; case is ignored.
     *
     * @throws DpuException INVALID_VALUE for any other id; the message lists the known ones
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
