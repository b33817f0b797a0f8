package io.softdpu.cli;

import io.softdpu.perf.comch.PerfMode;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a kind of measurement. */
final class PerfModeConverter implements ITypeConverter<PerfMode> {
    /** For picocli. */
    public PerfModeConverter() {}

    @Override
    public PerfMode convert(String text) {
        return switch (text) {
            case "latency" -> PerfMode.LATENCY;
            case "rate" -> PerfMode.RATE;
            case "bandwidth" -> PerfMode.BANDWIDTH;
            default ->
                    throw new TypeConversionException(
                            "no such measurement: measurement="
                                    + text
                                    + ", expected=latency, rate or bandwidth");
        };
    }
}
