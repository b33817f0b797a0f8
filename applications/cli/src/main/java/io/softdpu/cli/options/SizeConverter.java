package io.softdpu.cli.options;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a size: plain bytes, or a number with K, M, G, T (or KiB, ...), powers of 1024. */
public final class SizeConverter implements ITypeConverter<Long> {
    /** Sentence on the forms, for the help of a command with sizes. */
    public static final String HELP =
            "A SIZE is in bytes, or has K, M, G or T for powers of 1024, as in 64MiB.";

    private static final Pattern FORM = Pattern.compile("(\\d{1,19})(?:([KMGT])(?:I?B)?|B)?");
    private static final Map<String, Integer> SHIFTS = Map.of("K", 10, "M", 20, "G", 30, "T", 40);
    private static final String EXPECTED =
            "expected=bytes, or a number with K, M, G or T such as 64MiB";

    /** For picocli. */
    public SizeConverter() {}

    @Override
    public Long convert(String text) {
        return parse(text);
    }

    /**
     * Parses a number of bytes, at least 1.
     *
     * @throws TypeConversionException for another text, zero, or more than a long holds
     */
    public static long parse(String text) {
        Matcher matcher = FORM.matcher(text.toUpperCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw refused("not a size", text);
        }
        String unit = matcher.group(2);
        int shift = unit == null ? 0 : SHIFTS.getOrDefault(unit, 0);
        long number;
        try {
            number = Long.parseLong(matcher.group(1));
        } catch (NumberFormatException e) {
            throw refused("size is too large", text);
        }
        if (number > Long.MAX_VALUE >> shift) {
            throw refused("size is too large", text);
        }
        if (number == 0) {
            throw refused("size is zero", text);
        }
        return number << shift;
    }

    private static TypeConversionException refused(String reason, String text) {
        return new TypeConversionException(reason + ": size=" + text + ", " + EXPECTED);
    }
}
