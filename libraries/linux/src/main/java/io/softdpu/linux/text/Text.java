package io.softdpu.linux.text;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Text that is the same in every region: formatted and parsed with the digits 0 to 9 and a decimal
 * point, whatever the default locale of the JVM is, and read with or without a byte order mark.
 *
 * <p>Error Prone's {@code DefaultLocale} refuses calls that take the default locale in product
 * code.
 */
public final class Text {
    private static final Pattern WHOLE = Pattern.compile("-?[0-9]+");

    private Text() {}

    /**
     * Formats as {@link String#format(Locale, String, Object...)} with {@link Locale#ROOT}.
     *
     * @throws java.util.IllegalFormatException if the arguments do not match the format
     */
    @FormatMethod
    public static String format(@FormatString String format, @Nullable Object... arguments) {
        return String.format(Locale.ROOT, format, arguments);
    }

    /**
     * Parses a whole number that a user gave, as {@link Integer#parseInt(String)}, but only of the
     * digits 0 to 9, with or without a minus: that takes the digits of all scripts, and a plus.
     *
     * @throws NumberFormatException if it is none, or out of range
     */
    public static int parseInt(String text) {
        return Integer.parseInt(requireDigits(text));
    }

    /**
     * Parses a whole number as {@link #parseInt}, but as a {@code long}.
     *
     * @throws NumberFormatException if it is none, or out of range
     */
    public static long parseLong(String text) {
        return Long.parseLong(requireDigits(text));
    }

    private static String requireDigits(String text) {
        if (!WHOLE.matcher(text).matches()) {
            throw new NumberFormatException(
                    "not a whole number: text=" + ForeignText.escapeAndCut(text));
        }
        return text;
    }

    /** The text of a file without the byte order mark, U+FEFF, that some editors begin it with. */
    public static String withoutByteOrderMark(String text) {
        return text.startsWith("\ufeff") ? text.substring(1) : text;
    }
}
