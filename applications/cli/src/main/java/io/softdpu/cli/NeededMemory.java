package io.softdpu.cli;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.MemoryLimits;
import io.softdpu.linux.text.Text;

/**
 * Check of the memory of all processes of a command before it starts any. Each of them checks its
 * own too, but has no share of what those that start after it need.
 */
final class NeededMemory {
    private NeededMemory() {}

    /**
     * Requires that there is as much.
     *
     * @param purpose what it is for, as {@code key=value}
     * @param neededBytes of all processes
     * @param remedy what needs less
     * @throws DpuException NO_MEMORY that names the purpose and the limit
     */
    static void require(String purpose, long neededBytes, String remedy) {
        MemoryLimits.shortage(neededBytes)
                .ifPresent(amounts -> {
                    throw new DpuException(
                            Status.NO_MEMORY,
                            Text.format(
                                    "processes need more memory than is available: %s, %s,"
                                            + " expected=%s",
                                    purpose, amounts, remedy));
                });
    }
}
