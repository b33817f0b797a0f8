package io.softdpu.cli;

import io.softdpu.perf.pair.PerfWait;
import java.util.Arrays;
import java.util.Iterator;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a way of waiting. */
final class PerfWaitConverter implements ITypeConverter<PerfWait>, Iterable<String> {
    /** For picocli. */
    public PerfWaitConverter() {}

    @Override
    public PerfWait convert(String text) {
        return switch (text) {
            case "busy" -> PerfWait.BUSY;
            case "adaptive" -> PerfWait.ADAPTIVE;
            case "event" -> PerfWait.EVENT;
            default ->
                    throw new TypeConversionException(
                            "no such way to wait: wait="
                                    + text
                                    + ", expected=busy, adaptive or event");
        };
    }

    /** The words, for completion. */
    @Override
    public Iterator<String> iterator() {
        return Arrays.stream(PerfWait.values()).map(PerfWait::word).iterator();
    }
}
