package io.softdpu.cli.options;

import picocli.CommandLine.ITypeConverter;

/** Parses a size as {@link SizeConverter} does, or 0. */
public final class SizeOrZeroConverter implements ITypeConverter<Long> {
    /** For picocli. */
    public SizeOrZeroConverter() {}

    @Override
    public Long convert(String text) {
        return text.equals("0") ? 0 : SizeConverter.parse(text);
    }
}
