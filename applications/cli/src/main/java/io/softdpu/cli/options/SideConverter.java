package io.softdpu.cli.options;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import java.util.Arrays;
import java.util.Iterator;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a side: host, dpu or target. */
public final class SideConverter implements ITypeConverter<Side>, Iterable<String> {
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

    /** The words, for completion. */
    @Override
    public Iterator<String> iterator() {
        return Arrays.stream(Side.values()).map(Side::id).iterator();
    }
}
