package io.softdpu.storage.option;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.storage.StorageDefaults;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checks of options: of the three roles, and of workloads. */
public final class OptionChecks {
    private OptionChecks() {}

    /** The value of an option that must be set. */
    public static <T> T require(String name, @Nullable T value) {
        if (value == null) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "option is missing: option=" + name + ", expected=a value");
        }
        return value;
    }

    /** One core at least, and no more than a peer would agree to. */
    public static void requireCpus(List<CpuBinding> cpus) {
        requireRange("cpu count", cpus.size(), 1, StorageDefaults.MAX_CORES);
    }

    /** Some time at least, and a day at most: no wait for a reply goes on for ever. */
    public static void requireTimeout(long nanos) {
        requireRange(
                "control_timeout nanoseconds", nanos, 1, StorageDefaults.MAX_CONTROL_TIMEOUT_NANOS);
    }

    /** A number in its range. */
    public static void requireRange(String name, long value, long low, long high) {
        if (value < low || value > high) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    name
                            + " is illegal: "
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
