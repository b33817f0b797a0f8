package io.softdpu.cli;

import io.softdpu.perf.pair.PerfWait;

/** Parses a way of waiting. */
final class PerfWaitConverter extends WordConverter<PerfWait> {
    /** For picocli. */
    public PerfWaitConverter() {
        super(PerfWait.class, PerfWait::word, "no such way to wait", "wait");
    }
}
