package io.softdpu.cli;

import io.softdpu.perf.sync.SyncMode;

/** Parses a kind of measurement of a sync event. */
final class SyncModeConverter extends WordConverter<SyncMode> {
    /** For picocli. */
    public SyncModeConverter() {
        super(SyncMode.class, SyncMode::word, "no such measurement", "measurement");
    }
}
