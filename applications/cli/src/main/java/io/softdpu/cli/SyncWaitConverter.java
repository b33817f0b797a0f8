package io.softdpu.cli;

import io.softdpu.perf.sync.SyncWait;
import java.util.Arrays;
import java.util.Iterator;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a way of waiting for a sync event. */
final class SyncWaitConverter implements ITypeConverter<SyncWait>, Iterable<String> {
    /** For picocli. */
    public SyncWaitConverter() {}

    @Override
    public SyncWait convert(String text) {
        return switch (text) {
            case "busy" -> SyncWait.BUSY;
            case "yield" -> SyncWait.YIELD;
            case "event" -> SyncWait.EVENT;
            default ->
                    throw new TypeConversionException(
                            "no such way to wait: wait="
                                    + text
                                    + ", expected=busy, yield or event");
        };
    }

    /** The words, for completion. */
    @Override
    public Iterator<String> iterator() {
        return Arrays.stream(SyncWait.values()).map(SyncWait::word).iterator();
    }
}
