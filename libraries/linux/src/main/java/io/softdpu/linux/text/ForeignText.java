package io.softdpu.linux.text;

import org.jspecify.annotations.Nullable;

/**
 * Escapes untrusted text, so that it can neither control a terminal nor look like a line of this
 * program.
 *
 * <p>Escaped are control characters (C0, DEL and C1, and so each terminal escape and line end),
 * format characters (bidi controls, zero width characters, tags), the line and paragraph separators
 * U+2028 and U+2029, and unpaired surrogates: as {@code \n}, {@code \r}, {@code \t}, or as a
 * backslash, {@code u} and four hex digits for each UTF-16 unit. Everything else stays as it is.
 *
 * <p>A backslash stays as it is too. So escaping is idempotent: a message that passes through
 * several processes, each of which escapes it, reads as if one had. In return an escaped line end
 * cannot be distinguished from an original backslash and n, which does not matter in a message.
 */
public final class ForeignText {
    /** Limit of the result of {@link #escapeAndCut}, its mark included. */
    public static final int MAX_CHARACTERS = 256;

    /** Length of the mark for the longest possible text. */
    private static final int MARK_CHARACTERS = "…(+2147483647 more)".length();

    private ForeignText() {}

    /**
     * Text of another process, of a socket, or from the content of a file: escaped, and cut to
     * {@link #MAX_CHARACTERS} with a mark that says how many characters are missing. Reads no more
     * of the text than it returns.
     *
     * @param text the text; null becomes {@code null}
     */
    public static String escapeAndCut(@Nullable CharSequence text) {
        return escapeAndCut(text, MAX_CHARACTERS);
    }

    /**
     * The same with the given limit, for lines of a process that has cut untrusted text itself.
     *
     * @param text the text; null becomes {@code null}
     * @param maxCharacters limit of the result, its mark included; at least 32
     */
    public static String escapeAndCut(@Nullable CharSequence text, int maxCharacters) {
        CharSequence source = text == null ? "null" : text;
        StringBuilder out = new StringBuilder(Math.min(source.length(), maxCharacters) + 16);
        int kept = 0;
        int keptOut = 0;
        for (int at = 0; at < source.length(); at += Character.charCount(codePoint(source, at))) {
            if (out.length() <= maxCharacters - MARK_CHARACTERS) {
                kept = at;
                keptOut = out.length();
            }
            append(out, codePoint(source, at));
            if (out.length() > maxCharacters) {
                out.setLength(keptOut);
                return out.append("…(+").append(source.length() - kept).append(" more)").toString();
            }
        }
        return out.toString();
    }

    /**
     * The same, but cut in the middle: for messages that name what failed first and the cause last.
     *
     * @param text the text; null becomes {@code null}
     */
    public static String escapeAndCutMiddle(@Nullable CharSequence text) {
        CharSequence source = text == null ? "null" : text;
        if (source.length() <= MAX_CHARACTERS) {
            String whole = escape(source);
            if (whole.length() <= MAX_CHARACTERS) {
                return whole;
            }
        }
        int room = (MAX_CHARACTERS - MARK_CHARACTERS - 1) / 2;
        StringBuilder out = new StringBuilder(MAX_CHARACTERS);
        int headEnd = appendHead(out, source, room);
        StringBuilder tail = new StringBuilder(room);
        int tailBegin = prependTail(tail, source, room);
        return out.append("…(+")
                .append(tailBegin - headEnd)
                .append(" more)…")
                .append(tail)
                .toString();
    }

    /** Appends the beginning of a text as far as there is room; the index of what follows. */
    private static int appendHead(StringBuilder out, CharSequence source, int room) {
        int at = 0;
        while (at < source.length()) {
            int kept = out.length();
            int next = codePoint(source, at);
            append(out, next);
            if (out.length() > room) {
                out.setLength(kept);
                return at;
            }
            at += Character.charCount(next);
        }
        return at;
    }

    /** Prepends the end of a text as far as there is room; the index of its first character. */
    private static int prependTail(StringBuilder out, CharSequence source, int room) {
        int at = source.length();
        while (at > 0) {
            int previous = Character.codePointBefore(source, at);
            StringBuilder escaped = new StringBuilder();
            append(escaped, previous);
            if (out.length() + escaped.length() > room) {
                return at;
            }
            out.insert(0, escaped);
            at -= Character.charCount(previous);
        }
        return at;
    }

    /**
     * Text of the user, such as a path or the value of an option: escaped in full length.
     *
     * @param text the text; null becomes {@code null}
     */
    public static String escape(@Nullable CharSequence text) {
        CharSequence source = text == null ? "null" : text;
        if (isPrintable(source)) {
            return source.toString();
        }
        StringBuilder out = new StringBuilder(source.length() + 16);
        for (int at = 0; at < source.length(); at += Character.charCount(codePoint(source, at))) {
            append(out, codePoint(source, at));
        }
        return out.toString();
    }

    /** Whether a text needs no escaping. */
    public static boolean isPrintable(CharSequence text) {
        for (int at = 0; at < text.length(); at += Character.charCount(codePoint(text, at))) {
            if (!isPrintable(codePoint(text, at))) {
                return false;
            }
        }
        return true;
    }

    private static int codePoint(CharSequence text, int at) {
        return Character.codePointAt(text, at);
    }

    private static boolean isPrintable(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE ->
                    false;
            default -> true;
        };
    }

    private static void append(StringBuilder out, int codePoint) {
        if (isPrintable(codePoint)) {
            out.appendCodePoint(codePoint);
            return;
        }
        switch (codePoint) {
            case '\n' -> out.append("\\n");
            case '\r' -> out.append("\\r");
            case '\t' -> out.append("\\t");
            default -> {
                for (char unit : Character.toChars(codePoint)) {
                    appendHex(out, unit);
                }
            }
        }
    }

    private static void appendHex(StringBuilder out, char unit) {
        out.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) {
            out.append(Character.forDigit(unit >> shift & 0xf, 16));
        }
    }
}
