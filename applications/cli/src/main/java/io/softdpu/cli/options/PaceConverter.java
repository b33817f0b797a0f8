package io.softdpu.cli.options;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses the time of one operation: a number with us, ms or s, up to a minute. */
public final class PaceConverter implements ITypeConverter<Duration> {
    private static final Pattern FORM = Pattern.compile("(\\d{1,9})(us|ms|s)");
    private static final Duration LONGEST = Duration.ofMinutes(1);
    private static final Map<String, TimeUnit> UNITS =
            Map.of("us", TimeUnit.MICROSECONDS, "ms", TimeUnit.MILLISECONDS, "s", TimeUnit.SECONDS);

    /** For picocli. */
    public PaceConverter() {}

    @Override
    public Duration convert(String text) {
        Matcher matcher = FORM.matcher(text);
        if (matcher.matches()) {
            TimeUnit unit = UNITS.getOrDefault(matcher.group(2), TimeUnit.SECONDS);
            Duration time = Duration.of(Long.parseLong(matcher.group(1)), unit.toChronoUnit());
            if (time.isPositive() && time.compareTo(LONGEST) <= 0) {
                return time;
            }
        }
        throw new TypeConversionException(
                "time is illegal: pace=" + text + ", expected=1us to 60s, such as 2ms");
    }
}
