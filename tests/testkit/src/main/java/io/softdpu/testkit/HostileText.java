package io.softdpu.testkit;

import java.util.Locale;

/**
 * Text as a hostile process might send it: it clears the screen, begins a line that looks like one
 * of softdpu, turns the direction of what follows, and is megabytes long.
 */
public final class HostileText {
    /** Beginning of each of them. */
    private static final String HEAD =
            "evil\u001b[2J\nsoftdpu: OK\r\u2028\u2029\u202e\u0085\u009b31m\u007f\u0000";

    /** The beginning as messages show it. */
    public static final String SHOWN_HEAD = "evil\\u001b[2J\\nsoftdpu: OK\\r\\u2028\\u2029\\u202e";

    /** 3.9 MB. */
    public static final int LONG = 3_900_000;

    /**
     * Room that a message may have beside a text that is cut: its own words, and some short values.
     */
    private static final int OWN_WORDS = 600;

    private static final int CUT = 256;

    private HostileText() {}

    /** A hostile text of this many characters. */
    public static String of(int characters) {
        return HEAD + "z".repeat(characters - HEAD.length());
    }

    /**
     * Requires of a message with a text of {@link #of} in it that it is one line of limited length,
     * without a character that does not show, and that one can still tell what the text was.
     */
    public static void requireHarmless(String message) {
        requireOneLine(message);
        if (message.length() > CUT + OWN_WORDS) {
            throw new AssertionError("message is too long: characters=" + message.length());
        }
    }

    /** The same without a limit: for what the user typed, which is shown in full length. */
    public static void requireOneLine(String message) {
        message.codePoints()
                .filter(HostileText::isDangerous)
                .findFirst()
                .ifPresent(found -> {
                    throw new AssertionError(
                            String.format(
                                    Locale.ROOT,
                                    "message has a character that does not show: character=U+%04X",
                                    found));
                });
        if (!message.contains(SHOWN_HEAD)) {
            throw new AssertionError(
                    "message does not show the beginning once escaped: message="
                            + message.substring(0, Math.min(message.length(), 2 * CUT))
                            + ", expected="
                            + SHOWN_HEAD);
        }
    }

    private static boolean isDangerous(int codePoint) {
        int type = Character.getType(codePoint);
        return type == Character.CONTROL
                || type == Character.FORMAT
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR
                || type == Character.SURROGATE;
    }
}
