package io.softdpu.cli.demo;

import io.softdpu.cli.child.PhaseSpec;
import io.softdpu.cli.child.PlanContent;
import io.softdpu.storage.wire.IoType;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What the initiator of a demo does, in this order. */
public enum DemoPhase {
    /**
     * The whole volume into the initiator's memory, which holds something else before, so that a
     * byte that does not arrive is noticed.
     */
    VERIFY_READ("read volume, compare", IoType.READ, PlanContent.WRITTEN, PlanContent.VOLUME),
    /** The whole volume from the initiator's memory. */
    WRITE_ALL("write volume", IoType.WRITE, PlanContent.WRITTEN, null),
    /** What was written comes back. */
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
            "sequential read", IoType.READ, 1 << 20, 16, Place.SEQUENTIAL, Length.MEASURED);

    /** Where the next operation goes. */
    private enum Place {
        SEQUENTIAL,
        RANDOM
    }

    /** When a phase ends. */
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
        this.title = title;
        this.operation = operation;
        this.ioSizeBytes = ioSizeBytes;
        this.transactions = transactions;
        this.place = place;
        this.length = length;
        this.fill = null;
        this.expect = null;
    }

    /** What it does, in a few words. */
    public String title() {
        return title;
    }

    /** Its place in the plan, from 1. */
    public int number() {
        return Arrays.asList(values()).indexOf(this) + 1;
    }

    /** Its name in plans, reports and JSON. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
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
     * All phases, cut to what fits the volume: an operation is a block at least and no larger than
     * the volume, and no more are in flight than have room in it.
     */
    static List<PhaseSpec> plan(DemoOptions options) {
        return Arrays.stream(values()).map(phase -> phase.spec(options)).toList();
    }

    private PhaseSpec spec(DemoOptions options) {
        long volumeSizeBytes = options.sizeBytes();
        int ioSize =
                (int) Math.min(Math.max(ioSizeBytes, options.blockSizeBytes()), volumeSizeBytes);
        return new PhaseSpec(
                operation,
                key(),
                ioSize,
                (int) Math.min(transactions, volumeSizeBytes / ioSize),
                place == Place.RANDOM,
                nanos(options.measureNanos()),
                fill,
                expect);
    }

    /** How long, as a plan says it; 0: once over the volume. */
    private long nanos(long measureNanos) {
        return switch (length) {
            case ONCE_OVER_VOLUME -> 0;
            case WARM_UP -> Math.min(measureNanos, LONGEST_WARM_UP_NANOS);
            case MEASURED -> measureNanos;
        };
    }
}
