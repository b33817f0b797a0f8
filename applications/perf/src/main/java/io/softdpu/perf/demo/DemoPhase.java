package io.softdpu.perf.demo;

import io.softdpu.linux.text.Text;
import io.softdpu.perf.child.PhaseSpec;
import io.softdpu.perf.child.PlanContent;
import io.softdpu.perf.text.SizeText;
import io.softdpu.storage.wire.IoType;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Phases of the initiator of a demo, in this order. */
public enum DemoPhase {
    /**
     * The whole volume into the initiator's memory, which holds something else before, so that a
     * byte that does not arrive is noticed.
     */
    VERIFY_READ("read volume, compare", IoType.READ, PlanContent.WRITTEN, PlanContent.VOLUME),
    /** The whole volume from the initiator's memory. */
    WRITE_ALL("write volume", IoType.WRITE, PlanContent.WRITTEN, null),
    /** Reads the written data back. */
    READ_BACK("read back, compare", IoType.READ, PlanContent.ZEROS, PlanContent.WRITTEN),
    /** The same as the first measurement: until then compilers run beside the pollers. */
    WARM_UP("warm up", IoType.READ, 4096, 32, Place.RANDOM, Length.WARM_UP),
    /** Measured. */
    RANDOM_READ_4K("random read", IoType.READ, 4096, 32, Place.RANDOM, Length.MEASURED),
    /** Measured. */
    RANDOM_WRITE_4K("random write", IoType.WRITE, 4096, 32, Place.RANDOM, Length.MEASURED),
    /** Measured. */
    RANDOM_READ_4K_DEPTH1("random read", IoType.READ, 4096, 1, Place.RANDOM, Length.MEASURED),
    /** Measured. */
    RANDOM_WRITE_4K_DEPTH1("random write", IoType.WRITE, 4096, 1, Place.RANDOM, Length.MEASURED),
    /** Measured. */
    SEQUENTIAL_READ_1M(
            "sequential read", IoType.READ, 1 << 20, 16, Place.SEQUENTIAL, Length.MEASURED),
    /** Measured where it is asked for. */
    SEQUENTIAL_WRITE_1M(
            "sequential write", IoType.WRITE, 1 << 20, 16, Place.SEQUENTIAL, Length.MEASURED),
    /** One operation at a time, with long rests: what sleeping and waking costs. */
    PACED_READ_4K("read each 2 ms", 2_000_000L),
    /** One operation and then nothing: what three connected processes cost that have no work. */
    IDLE("idle", 3_600_000_000_000L);

    /** Order of the offsets of operations. */
    private enum Place {
        SEQUENTIAL,
        RANDOM
    }

    /** Condition for the end of a phase. */
    private enum Length {
        ONCE_OVER_VOLUME,
        WARM_UP,
        MEASURED
    }

    /** Compilers have done most by then. */
    private static final long LONGEST_WARM_UP_NANOS = 1_000_000_000L;

    private final String title;
    private final IoType operation;
    private final int ioSizeBytes;
    private final int transactions;
    private final Place place;
    private final Length length;
    private final long paceNanos;
    private final @Nullable PlanContent fill;
    private final @Nullable PlanContent expect;

    /** A phase that goes once over the volume. */
    DemoPhase(
            String title,
            IoType operation,
            @Nullable PlanContent fill,
            @Nullable PlanContent expect) {
        this.title = title;
        this.operation = operation;
        this.ioSizeBytes = 1 << 20;
        this.transactions = 16;
        this.place = Place.SEQUENTIAL;
        this.length = Length.ONCE_OVER_VOLUME;
        this.paceNanos = 0;
        this.fill = fill;
        this.expect = expect;
    }

    /** A phase that lasts for a time. */
    DemoPhase(
            String title,
            IoType operation,
            int ioSizeBytes,
            int transactions,
            Place place,
            Length length) {
        this(title, operation, ioSizeBytes, transactions, place, length, 0);
    }

    /** A phase of single reads with pauses between them. */
    DemoPhase(String title, long paceNanos) {
        this(title, IoType.READ, 4096, 1, Place.RANDOM, Length.MEASURED, paceNanos);
    }

    DemoPhase(
            String title,
            IoType operation,
            int ioSizeBytes,
            int transactions,
            Place place,
            Length length,
            long paceNanos) {
        this.title = title;
        this.operation = operation;
        this.ioSizeBytes = ioSizeBytes;
        this.transactions = transactions;
        this.place = place;
        this.length = length;
        this.paceNanos = paceNanos;
        this.fill = null;
        this.expect = null;
    }

    /** The default measurements of a demo. */
    public static Set<DemoPhase> measuredByDefault() {
        return EnumSet.range(RANDOM_READ_4K, SEQUENTIAL_READ_1M);
    }

    /** The phases of a demo, in their order. */
    public static List<DemoPhase> of(DemoOptions options) {
        return Arrays.stream(values())
                .filter(phase -> !phase.isMeasured() || options.measured().contains(phase))
                .toList();
    }

    /** Its name in plans, reports and JSON. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Its name in {@code --measure} and in tables: with hyphens if it is measured, else a title.
     */
    public String word() {
        return isMeasured() ? key().replace('_', '-') : title;
    }

    /** True if its figures are what the demo is after. */
    public boolean isMeasured() {
        return length == Length.MEASURED;
    }

    /** The phase with this key. */
    public static DemoPhase ofKey(String key) {
        return valueOf(key.toUpperCase(Locale.ROOT));
    }

    /**
     * All steps of a demo, cut to what fits the part of the volume of one core: an operation is a
     * block at least and no larger than that part, and no more are in flight than have room in it.
     */
    static List<PhaseSpec> plan(DemoOptions options) {
        return DemoStep.of(options).stream()
                .map(step -> step.phase().spec(step.key(), options))
                .toList();
    }

    private PhaseSpec spec(String key, DemoOptions options) {
        int ioSize = ioSizeBytes(options);
        return new PhaseSpec(
                operation,
                key,
                ioSize,
                (int) Math.min(transactions, options.partBytes() / ioSize),
                place == Place.RANDOM,
                nanos(options.measureNanos()),
                paceNanos,
                fill,
                expect);
    }

    private int ioSizeBytes(DemoOptions options) {
        return (int) Math.min(Math.max(ioSizeBytes, options.blockSizeBytes()), options.partBytes());
    }

    /** The title with the form of its operations: {@code random read (4 KiB, 32 in flight)}. */
    String description(DemoOptions options) {
        int ioSize = ioSizeBytes(options);
        return Text.format(
                "%s (%s, %d in flight)",
                title,
                SizeText.rounded(ioSize),
                options.cores() * Math.min(transactions, options.partBytes() / ioSize));
    }

    /** An estimate of its duration. */
    long estimatedNanos(DemoOptions options) {
        return length == Length.ONCE_OVER_VOLUME
                ? options.sizeBytes() // a new process moves about a byte per nanosecond
                : nanos(options.measureNanos());
    }

    /** The duration in a plan; 0: once over the volume. */
    private long nanos(long measureNanos) {
        return switch (length) {
            case ONCE_OVER_VOLUME -> 0;
            case WARM_UP -> Math.min(measureNanos, LONGEST_WARM_UP_NANOS);
            case MEASURED -> measureNanos;
        };
    }
}
