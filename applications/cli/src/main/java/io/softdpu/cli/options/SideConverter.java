package io.softdpu.cli.options;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a side: host, dpu or target. */
public final class SideConverter implements ITypeConverter<Side> {
    /** For picocli. */
    public SideConverter() {}

    @Override
    public Side convert(String text) {
        try {
            return Side.of(text);
        } catch (DpuException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
