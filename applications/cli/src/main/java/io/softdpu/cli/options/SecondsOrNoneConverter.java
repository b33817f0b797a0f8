package io.softdpu.cli.options;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;

/** Parses a time in seconds as {@link SecondsConverter} does, or 0 for none. */
public final class SecondsOrNoneConverter implements ITypeConverter<Duration> {
    private final SecondsConverter seconds = new SecondsConverter();

    /** For picocli. */
    public SecondsOrNoneConverter() {}

    @Override
    public Duration convert(String text) {
        return text.equals("0") ? Duration.ZERO : seconds.convert(text);
    }
}
