package io.softdpu.cli.options;

import io.softdpu.cli.log.LogLevel;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a log level by its number or its name. */
public final class LogLevelConverter implements ITypeConverter<LogLevel>, Iterable<String> {
    /** For picocli. */
    public LogLevelConverter() {}

    @Override
    public LogLevel convert(String text) {
        try {
            return LogLevel.of(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }

    /** The words, for completion. */
    @Override
    public Iterator<String> iterator() {
        return Arrays.stream(LogLevel.values())
                .map(level -> level.name().toLowerCase(Locale.ROOT))
                .iterator();
    }
}
