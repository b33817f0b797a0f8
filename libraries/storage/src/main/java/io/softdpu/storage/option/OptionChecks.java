package io.softdpu.storage.option;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.storage.StorageDefaults;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Checks of the options of the three roles and of workloads. */
public final class OptionChecks {
    private OptionChecks() {}

    /** Returns the value of a mandatory option; throws INVALID_VALUE if it is null. */
    public static <T> T require(String name, @Nullable T value) {
        if (value == null) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "option is missing: option=" + name + ", expected=a value");
        }
        return value;
    }

    /** Requires 1 to {@link StorageDefaults#MAX_WORKERS} CPUs. */
    public static void requireCpus(List<CpuBinding> cpus) {
        requireRange("cpuCount", cpus.size(), 1, StorageDefaults.MAX_WORKERS);
    }

    /** Requires a timeout of 1 ns to one day. */
    public static void requireTimeout(@Nullable Duration timeout) {
        requireRange(
                "controlTimeoutNanos",
                nanos(require("controlTimeout", timeout)),
                1,
                StorageDefaults.MAX_CONTROL_TIMEOUT.toNanos());
    }

    /** The nanoseconds of a duration; the largest or least number for those beyond it. */
    public static long nanos(Duration duration) {
        return TimeUnit.NANOSECONDS.convert(duration);
    }

    /** Requires a number in its range; throws INVALID_VALUE, naming it. */
    public static void requireRange(String name, long value, long low, long high) {
        if (value < low || value > high) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "value is illegal: "
                            + name
                            + "="
                            + value
                            + ", expected="
                            + low
                            + " to "
                            + high);
        }
    }
}
