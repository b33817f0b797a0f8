package io.softdpu.core.process;

import java.io.IOException;
import java.io.Reader;
import org.jspecify.annotations.Nullable;

/**
 * Lines of another process, of which long ones are cut: their length is the choice of that process,
 * and the memory for them is this one's. A line ends with a line feed, a carriage return, or both.
 * Belongs to one thread.
 */
public final class LineReader implements AutoCloseable {
    private static final int BUFFER_CHARACTERS = 8192;

    private final Reader from;
    private final int maxCharacters;
    private final char[] buffer = new char[BUFFER_CHARACTERS];
    private final StringBuilder line = new StringBuilder();
    private int at;
    private int end;
    private boolean afterReturn;

    /**
     * A reader that has read nothing.
     *
     * @param maxCharacters of a line, without the mark that it was cut
     */
    public LineReader(Reader from, int maxCharacters) {
        this.from = from;
        this.maxCharacters = maxCharacters;
    }

    /**
     * Reads the next line; one that is too long ends with {@code …(+N more)}, where N is the number
     * of missing characters.
     *
     * @return the line without its end; null at the end of the stream
     * @throws IOException if the stream cannot be read
     */
    public @Nullable String next() throws IOException {
        line.setLength(0);
        long missing = 0;
        while (hasMore()) {
            char c = buffer[at++];
            if (c == '\n' && afterReturn) {
                afterReturn = false; // the second half of the end of the line before
                continue;
            }
            afterReturn = c == '\r';
            if (c == '\n' || c == '\r') {
                return cut(missing);
            }
            if (line.length() < maxCharacters) {
                line.append(c);
            } else {
                missing++;
            }
        }
        return line.isEmpty() ? null : cut(missing);
    }

    private boolean hasMore() throws IOException {
        if (at == end) {
            at = 0;
            end = Math.max(0, from.read(buffer));
        }
        return end > 0;
    }

    private String cut(long missing) {
        if (missing == 0) {
            return line.toString();
        }
        int kept = line.length();
        if (Character.isHighSurrogate(line.charAt(kept - 1))) {
            kept--; // half a character is none
        }
        long all = line.length() + missing;
        line.setLength(kept);
        return line.append("…(+").append(all - kept).append(" more)").toString();
    }

    /** Closes the stream. */
    @Override
    public void close() throws IOException {
        from.close();
    }
}
