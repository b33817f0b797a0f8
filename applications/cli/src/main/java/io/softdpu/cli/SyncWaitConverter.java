package io.softdpu.cli;

import io.softdpu.perf.sync.SyncWait;

/** Parses a way of waiting for a sync event. */
final class SyncWaitConverter extends WordConverter<SyncWait> {
    /** For picocli. */
    public SyncWaitConverter() {
        super(SyncWait.class, SyncWait::word, "no such way to wait", "wait");
    }
}
