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
    VERIFY_READ("read volume, compare", IoType.READ, 1 << 20, 16, false) {
        @Override
        PlanContent fill() {
            return PlanContent.WRITTEN;
        }

        @Override
        PlanContent expect() {
            return PlanContent.VOLUME;
        }
    },
    /** The whole volume from the initiator's memory. */
    WRITE_ALL("write volume", IoType.WRITE, 1 << 20, 16, false) {
        @Override
        PlanContent fill() {
            return PlanContent.WRITTEN;
        }
    },
    /** What was written comes back. */
    READ_BACK("read back, compare", IoType.READ, 1 << 20, 16, false) {
        @Override
        PlanContent fill() {
            return PlanContent.ZEROS;
        }

        @Override
        PlanContent expect() {
            return PlanContent.WRITTEN;
        }
    },
    /** Measured. */
    RANDOM_READ_4K("random read", IoType.READ, 4096, 32, true),
    /** Measured. */
    RANDOM_WRITE_4K("random write", IoType.WRITE, 4096, 32, true),
    /** Measured. */
    RANDOM_READ_4K_DEPTH1("random read", IoType.READ, 4096, 1, true),
    /** Measured. */
    RANDOM_WRITE_4K_DEPTH1("random write", IoType.WRITE, 4096, 1, true),
    /** Measured. */
    SEQUENTIAL_READ_1M("sequential read", IoType.READ, 1 << 20, 16, false) {
        @Override
        public boolean isMeasured() {
            return true;
        }
    };

    private final String title;
    private final IoType operation;
    private final int ioSizeBytes;
    private final int transactions;
    private final boolean random;

    DemoPhase(String title, IoType operation, int ioSizeBytes, int transactions, boolean random) {
        this.title = title;
        this.operation = operation;
        this.ioSizeBytes = ioSizeBytes;
        this.transactions = transactions;
        this.random = random;
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

    /** True if it lasts for a time; false if it goes once over the whole volume. */
    public boolean isMeasured() {
        return random;
    }

    @Nullable PlanContent fill() {
        return null;
    }

    @Nullable PlanContent expect() {
        return null;
    }

    /** The phase with this key. */
    public static DemoPhase ofKey(String key) {
        return valueOf(key.toUpperCase(Locale.ROOT));
    }

    /**
     * All phases, cut to what fits a small volume: an operation is no larger than the volume, and
     * no more are in flight than have room in it.
     */
    static List<PhaseSpec> plan(long volumeSizeBytes, long measureNanos) {
        return Arrays.stream(values())
                .map(phase -> phase.spec(volumeSizeBytes, measureNanos))
                .toList();
    }

    private PhaseSpec spec(long volumeSizeBytes, long measureNanos) {
        int ioSize = (int) Math.min(ioSizeBytes, volumeSizeBytes);
        return new PhaseSpec(
                operation,
                key(),
                ioSize,
                (int) Math.min(transactions, volumeSizeBytes / ioSize),
                random,
                isMeasured() ? measureNanos : 0,
                fill(),
                expect());
    }
}
