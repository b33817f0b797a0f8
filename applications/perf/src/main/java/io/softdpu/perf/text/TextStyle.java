package io.softdpu.perf.text;

import java.util.Map;
import java.util.Objects;

/**
 * Colours for results: escape codes of a terminal where the text goes to one and its user has not
 * declined them, else nothing. Immutable.
 */
public final class TextStyle {
    private static final String RESET = "\u001b[0m";

    private final boolean coloured;

    private TextStyle(boolean coloured) {
        this.coloured = coloured;
    }

    /**
     * The style of a stream. Without colour if {@code NO_COLOR} is set and not empty (no-color.org)
     * or {@code TERM} is {@code dumb}.
     *
     * @param terminal whether the stream is a terminal
     * @param environment the variables of the process
     */
    public static TextStyle of(boolean terminal, Map<String, String> environment) {
        return new TextStyle(
                terminal
                        && Objects.requireNonNullElse(environment.get("NO_COLOR"), "").isEmpty()
                        && !"dumb".equals(environment.get("TERM")));
    }

    /** The style without colour. */
    public static TextStyle plain() {
        return new TextStyle(false);
    }

    /** A good result: green. */
    public String good(String text) {
        return styled("32", text);
    }

    /** A bad result: red. */
    public String bad(String text) {
        return styled("31", text);
    }

    /** A result that is neither, but needs attention: yellow. */
    public String notable(String text) {
        return styled("33", text);
    }

    private String styled(String code, String text) {
        return coloured ? "\u001b[" + code + "m" + text + RESET : text;
    }
}
