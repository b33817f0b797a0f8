package io.softdpu.cli.options;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;

/** Parses a time between two lines as {@link SecondsConverter} does, or {@code off}: zero. */
public final class IntervalConverter implements ITypeConverter<Duration> {
    private final SecondsConverter seconds = new SecondsConverter();

    /** For picocli. */
    public IntervalConverter() {}

    @Override
    public Duration convert(String text) {
        return text.equals("off") ? Duration.ZERO : seconds.convert(text);
    }
}
