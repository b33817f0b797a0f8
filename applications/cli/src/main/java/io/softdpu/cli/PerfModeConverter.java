package io.softdpu.cli;

import io.softdpu.perf.comch.PerfMode;
import java.util.Arrays;
import java.util.Iterator;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a kind of measurement. */
final class PerfModeConverter implements ITypeConverter<PerfMode>, Iterable<String> {
    /** For picocli. */
    public PerfModeConverter() {}

    @Override
    public PerfMode convert(String text) {
        return switch (text) {
            case "latency" -> PerfMode.LATENCY;
            case "rate" -> PerfMode.RATE;
            case "bandwidth" -> PerfMode.BANDWIDTH;
            case "control" -> PerfMode.CONTROL;
            case "idle" -> PerfMode.IDLE;
            default ->
                    throw new TypeConversionException(
                            "no such measurement: measurement="
                                    + text
                                    + ", expected=latency, rate, bandwidth, control or idle");
        };
    }

    /** The words, for completion. */
    @Override
    public Iterator<String> iterator() {
        return Arrays.stream(PerfMode.values()).map(PerfMode::word).iterator();
    }
}
