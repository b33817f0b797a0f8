package io.softdpu.perf.rdma;

import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Exports of one side for the other, in one line.
 *
 * @param connection its end of the connection
 * @param memory its memory; empty where no operation accesses it
 */
@SuppressWarnings("ArrayRecordComponent") // read once, and never compared
record PeerExport(byte[] connection, byte[] memory) {
    private static final Pattern FORM =
            Pattern.compile("peer: connection=(\\p{XDigit}+), memory=(\\p{XDigit}*)");

    /** Reads a line; empty if it is none of these. */
    static Optional<PeerExport> parse(String line) {
        Matcher matcher = FORM.matcher(line);
        return matcher.matches() && isWhole(matcher.group(1)) && isWhole(matcher.group(2))
                ? Optional.of(
                        new PeerExport(
                                HexFormat.of().parseHex(matcher.group(1)),
                                HexFormat.of().parseHex(matcher.group(2))))
                : Optional.empty();
    }

    private static boolean isWhole(String digits) {
        return digits.length() % 2 == 0;
    }

    /** The line. */
    @Override
    public String toString() {
        return "peer: connection="
                + HexFormat.of().formatHex(connection)
                + ", memory="
                + HexFormat.of().formatHex(memory);
    }
}
