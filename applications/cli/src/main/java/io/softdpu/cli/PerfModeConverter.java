package io.softdpu.cli;

import io.softdpu.perf.comch.PerfMode;

/** Parses a kind of measurement. */
final class PerfModeConverter extends WordConverter<PerfMode> {
    /** For picocli. */
    public PerfModeConverter() {
        super(PerfMode.class, PerfMode::word, "no such measurement", "measurement");
    }
}
