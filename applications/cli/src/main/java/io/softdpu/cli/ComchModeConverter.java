package io.softdpu.cli;

import io.softdpu.perf.comch.ComchMode;

/** Parses a kind of measurement. */
final class ComchModeConverter extends WordConverter<ComchMode> {
    /** For picocli. */
    public ComchModeConverter() {
        super(ComchMode.class, ComchMode::word, "no such measurement", "measurement");
    }
}
