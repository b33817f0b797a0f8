package io.softdpu.linux.text;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Formats text the same in every region: with the digits 0 to 9 and a decimal point, whatever the
 * default locale of the JVM is.
 *
 * <p>Error Prone's {@code DefaultLocale} refuses calls that take the default locale in product
 * code.
 */
public final class Text {
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
}
