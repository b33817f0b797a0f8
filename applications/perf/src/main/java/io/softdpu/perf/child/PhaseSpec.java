package io.softdpu.perf.child;

import io.softdpu.linux.text.Text;
import io.softdpu.storage.wire.IoType;
import io.softdpu.storage.workload.IoSize;
import io.softdpu.storage.workload.Phase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One phase of a plan, which a parent passes to its initiator by the hidden option {@code --phase}.
 * The text form, which {@link #parse} and {@link #toString} share, is for example
 *
 * <pre>
 * read:name=random_read_4k,ioSizeBytes=4096,transactions=32,order=random,nanos=3000000000
 * write:name=write_all,ioSizeBytes=1048576,transactions=16,order=sequential,fill=written
 * </pre>
 *
 * @param operation read or write
 * @param name how the phase is called in reports, lower case with underscores
 * @param ioSizeBytes bytes per operation
 * @param transactions operations in flight
 * @param random random places instead of one after the other
 * @param nanos how long; 0: once over the whole volume
 * @param paceNanos least time from one operation's beginning to the next one's of a transaction
 * @param fill what is put in the initiator's memory before; null: nothing
 * @param expect what must stand there afterwards; null: whatever
 */
public record PhaseSpec(
        IoType operation,
        String name,
        int ioSizeBytes,
        int transactions,
        boolean random,
        long nanos,
        long paceNanos,
        @Nullable PlanContent fill,
        @Nullable PlanContent expect) {

    /** Seed of random offsets: the same for all runs, to compare them. */
    private static final long RANDOM_SEED = 0x5eed;

    private static final Pattern NAME = Pattern.compile("[a-z0-9_]{1,40}");

    /** Checks what a phase of the storage library does not check itself. */
    public PhaseSpec {
        if (operation == IoType.RESULT || !NAME.matcher(name).matches() || nanos < 0) {
            throw new IllegalArgumentException(
                    Text.format(
                            "phase is illegal: operation=%s, name=%s, nanos=%d",
                            operation, name, nanos));
        }
    }

    /**
     * Reads the text form.
     *
     * @throws IllegalArgumentException for anything else, naming what is wrong
     */
    public static PhaseSpec parse(String text) {
        int colon = text.indexOf(':');
        IoType operation =
                switch (text.substring(0, Math.max(colon, 0))) {
                    case "read" -> IoType.READ;
                    case "write" -> IoType.WRITE;
                    default ->
                            throw new IllegalArgumentException(
                                    "phase begins neither with read: nor with write:: phase="
                                            + text);
                };
        Map<String, String> fields = new LinkedHashMap<>();
        for (String field : text.substring(colon + 1).split(",", -1)) {
            int equals = field.indexOf('=');
            if (equals < 1
                    || fields.put(field.substring(0, equals), field.substring(equals + 1))
                            != null) {
                throw new IllegalArgumentException("phase has an illegal field: field=" + field);
            }
        }
        String order = take(fields, "order");
        if (!order.equals("random") && !order.equals("sequential")) {
            throw new IllegalArgumentException("phase has an illegal order: order=" + order);
        }
        @Nullable String nanos = fields.remove("nanos");
        @Nullable String pace = fields.remove("paceNanos");
        @Nullable String fill = fields.remove("fill");
        @Nullable String expect = fields.remove("expect");
        PhaseSpec phase =
                new PhaseSpec(
                        operation,
                        take(fields, "name"),
                        Text.parseInt(take(fields, "ioSizeBytes")),
                        Text.parseInt(take(fields, "transactions")),
                        order.equals("random"),
                        nanos == null ? 0 : Text.parseLong(nanos),
                        pace == null ? 0 : Text.parseLong(pace),
                        fill == null ? null : PlanContent.of(fill),
                        expect == null ? null : PlanContent.of(expect));
        if (!fields.isEmpty()) {
            throw new IllegalArgumentException("phase has unknown fields: fields=" + fields);
        }
        return phase;
    }

    /** The text form. */
    @Override
    public String toString() {
        List<String> fields = new ArrayList<>();
        fields.add("name=" + name);
        fields.add("ioSizeBytes=" + ioSizeBytes);
        fields.add("transactions=" + transactions);
        fields.add("order=" + (random ? "random" : "sequential"));
        if (nanos > 0) {
            fields.add("nanos=" + nanos);
        }
        if (paceNanos > 0) {
            fields.add("paceNanos=" + paceNanos);
        }
        if (fill != null) {
            fields.add("fill=" + fill.word());
        }
        if (expect != null) {
            fields.add("expect=" + expect.word());
        }
        return operation.name().toLowerCase(Locale.ROOT) + ":" + String.join(",", fields);
    }

    /**
     * The phase that the storage library runs.
     *
     * @param volumeFile what the volume was loaded from; null if it holds the pattern
     */
    public Phase toPhase(@Nullable Path volumeFile) {
        Phase.Builder phase = operation == IoType.READ ? Phase.read(name) : Phase.write(name);
        phase.ioSize(IoSize.bytes(ioSizeBytes))
                .transactions(transactions)
                .pace(Duration.ofNanos(paceNanos));
        if (random) {
            phase.random(RANDOM_SEED);
        } else {
            phase.sequential();
        }
        if (nanos == 0) {
            phase.onceOverVolume();
        } else {
            phase.timeLimit(Duration.ofNanos(nanos));
        }
        if (fill != null) {
            phase.fill(fill.content(volumeFile));
        }
        if (expect != null) {
            phase.expect(expect.content(volumeFile));
        }
        return phase.build();
    }

    private static String take(Map<String, String> fields, String name) {
        @Nullable String value = fields.remove(name);
        if (value == null) {
            throw new IllegalArgumentException("phase lacks a field: field=" + name);
        }
        return value;
    }
}
