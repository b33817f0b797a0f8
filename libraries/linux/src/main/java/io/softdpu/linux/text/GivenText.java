package io.softdpu.linux.text;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Texts and paths that the user gave this process: arguments, and variables of the environment. The
 * JVM decodes them by the locale that it was started in, and puts U+FFFD in the place of bytes that
 * it cannot decode; a path it encodes the same way. So a text beyond ASCII is used only where the
 * encoding is UTF-8 and the text has no U+FFFD: any other would not be what the user gave.
 *
 * <p>Immutable; any thread.
 */
public final class GivenText {
    private static final char REPLACEMENT = '\uFFFD';

    /** The variables that choose the encoding, in the order of their precedence. */
    private static final String[] VARIABLES = {"LC_ALL", "LC_CTYPE", "LANG"};

    private static final GivenText OF_THIS_PROCESS =
            new GivenText(
                    System.getProperty("sun.jnu.encoding", "unknown"),
                    System.getenv(),
                    System.getProperty("user.dir", ""));

    private final String encoding;
    private final boolean isUtf8;
    private final String locale;
    private final String workingDirectory;

    /**
     * @param encoding the name of the encoding of arguments and paths
     * @param environment the variables of the process
     * @param workingDirectory as the JVM has decoded it
     */
    GivenText(String encoding, Map<String, String> environment, String workingDirectory) {
        this.encoding = encoding;
        this.isUtf8 = isUtf8(encoding);
        this.locale =
                Stream.of(VARIABLES)
                        .filter(name -> !environment.getOrDefault(name, "").isEmpty())
                        .findFirst()
                        .map(name -> name + "=" + environment.get(name))
                        .orElse("none");
        this.workingDirectory = workingDirectory;
    }

    private static boolean isUtf8(String name) {
        try {
            return Charset.forName(name).equals(StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return false; // an encoding that this JDK does not have
        }
    }

    /**
     * A text that the user gave.
     *
     * @param source what had it, for the message: {@code option=--text}; empty if the caller adds
     *     it
     * @param refusal makes the exception from its message
     * @return the text
     */
    public static String text(
            String source, String text, Function<String, ? extends RuntimeException> refusal) {
        return OF_THIS_PROCESS.checked(source, text, refusal);
    }

    /**
     * A path that the user gave, or that a program gives as a text.
     *
     * @param source as of {@link #text}
     * @param refusal makes the exception from its message
     */
    public static Path path(
            String source, String path, Function<String, ? extends RuntimeException> refusal) {
        return OF_THIS_PROCESS.pathOf(source, path, refusal);
    }

    /**
     * Whether a text of this process, such as the name of a file in a folder, can be given to the
     * system as it was got.
     */
    public static boolean isWhatWasGiven(String text) {
        return OF_THIS_PROCESS.canBe(text);
    }

    /**
     * The names at the beginning of a path that can be given to the system as they were got.
     *
     * @return the whole path, or a folder above the first name that cannot
     */
    public static String representablePart(String path) {
        int end = 0;
        while (end < path.length()) {
            int next = path.indexOf('/', end + 1);
            next = next < 0 ? path.length() : next;
            if (!isWhatWasGiven(path.substring(end, next))) {
                break;
            }
            end = next;
        }
        return path.substring(0, end);
    }

    /** As {@link #text}. */
    String checked(
            String source, String text, Function<String, ? extends RuntimeException> refusal) {
        if (!canBe(text)) {
            throw refusal.apply(refused("text", source, text, ""));
        }
        return text;
    }

    /** As {@link #path}. */
    Path pathOf(String source, String path, Function<String, ? extends RuntimeException> refusal) {
        if (!canBe(path)) {
            throw refusal.apply(refused("path", source, path, ""));
        }
        Path made;
        try {
            made = Path.of(path);
        } catch (InvalidPathException e) {
            RuntimeException refused =
                    refusal.apply(
                            "not a path: "
                                    + begin(source)
                                    + "value="
                                    + ForeignText.escape(path)
                                    + ", expected=the path of a file or folder");
            refused.addSuppressed(e);
            throw refused;
        }
        if (!made.isAbsolute() && !canBe(workingDirectory)) {
            throw refusal.apply(
                    refused(
                            "path below the working directory",
                            source,
                            path,
                            ", workingDirectory=" + shown(workingDirectory)));
        }
        return made;
    }

    /** Whether it is what the user gave, and can be given to the system. */
    private boolean canBe(String text) {
        if (StandardCharsets.US_ASCII.newEncoder().canEncode(text)) {
            return true;
        }
        return isUtf8
                && text.indexOf(REPLACEMENT) < 0
                && StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    private String refused(String what, String source, String text, String more) {
        return what
                + " cannot be represented: "
                + begin(source)
                + "value="
                + shown(text)
                + more
                + ", locale="
                + locale
                + ", encoding="
                + encoding
                + (isUtf8
                        ? ", expected=UTF-8 without U+FFFD"
                        : ", expected=ASCII, or a locale with UTF-8 such as C.UTF-8");
    }

    private static String begin(String source) {
        return source.isEmpty() ? "" : source + ", ";
    }

    /** With a question mark for each byte that the JVM could not decode. */
    private static String shown(@Nullable String text) {
        return ForeignText.escape(text).replace(REPLACEMENT, '?');
    }
}
