package io.softdpu.cli.options;

import io.softdpu.cli.log.LogLevel;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a log level by its number or its name. */
public final class LogLevelConverter implements ITypeConverter<LogLevel> {
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
}
