package io.softdpu.cli;

import io.softdpu.perf.sync.SyncMode;
import java.util.Arrays;
import java.util.Iterator;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a kind of measurement of a sync event. */
final class SyncModeConverter implements ITypeConverter<SyncMode>, Iterable<String> {
    /** For picocli. */
    public SyncModeConverter() {}

    @Override
    public SyncMode convert(String text) {
        return switch (text) {
            case "latency" -> SyncMode.LATENCY;
            case "rate" -> SyncMode.RATE;
            default ->
                    throw new TypeConversionException(
                            "no such measurement: measurement="
                                    + text
                                    + ", expected=latency or rate");
        };
    }

    /** The words, for completion. */
    @Override
    public Iterator<String> iterator() {
        return Arrays.stream(SyncMode.values()).map(SyncMode::word).iterator();
    }
}
