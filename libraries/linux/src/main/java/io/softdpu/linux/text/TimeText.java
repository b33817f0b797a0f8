package io.softdpu.linux.text;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times as text: a whole number with its unit, {@code us}, {@code ms} or {@code s}. */
public final class TimeText {
    private static final Pattern FORM = Pattern.compile("(\\d{1,9})(us|ms|s)");

    private TimeText() {}

    /** Parses a time; empty if the text is none. */
    public static Optional<Duration> parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        TimeUnit unit =
                switch (matcher.group(2)) {
                    case "us" -> TimeUnit.MICROSECONDS;
                    case "ms" -> TimeUnit.MILLISECONDS;
                    default -> TimeUnit.SECONDS;
                };
        return Optional.of(Duration.of(Text.parseLong(matcher.group(1)), unit.toChronoUnit()));
    }

    /** The text of a time, in the largest unit that has no fraction; parts of 1 µs are left out. */
    public static String of(Duration time) {
        long micros = TimeUnit.MICROSECONDS.convert(time);
        if (micros % 1_000_000 == 0) {
            return micros / 1_000_000 + "s";
        }
        return micros % 1000 == 0 ? micros / 1000 + "ms" : micros + "us";
    }
}
