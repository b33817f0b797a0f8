package io.softdpu.cli.options;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a time in seconds, decimals allowed, from a thousandth to a day. */
public final class SecondsConverter implements ITypeConverter<Duration> {
    private static final Pattern FORM = Pattern.compile("\\d{1,9}(\\.\\d{1,9})?");
    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration LONGEST = Duration.ofDays(1);

    /** For picocli. */
    public SecondsConverter() {}

    @Override
    public Duration convert(String text) {
        if (FORM.matcher(text).matches()) {
            Duration time =
                    Duration.ofNanos(new BigDecimal(text).movePointRight(9).longValueExact());
            if (time.compareTo(SHORTEST) >= 0 && time.compareTo(LONGEST) <= 0) {
                return time;
            }
        }
        throw new TypeConversionException(
                "time is illegal: seconds=" + text + ", expected=seconds from 0.001 to 86400");
    }
}
