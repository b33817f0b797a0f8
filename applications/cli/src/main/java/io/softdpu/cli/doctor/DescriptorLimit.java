package io.softdpu.cli.doctor;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * The limit of open descriptors, RLIMIT_NOFILE, and what processes of softdpu need of it. The
 * numbers are measured, with some more for what a user's processes inherit: below them a process
 * would fail in the middle of its work, with EMFILE. Any thread.
 */
public final class DescriptorLimit {
    /** A storage role with one data path thread in a demo: 80 are enough. */
    public static final long OF_ROLE = 96;

    /** Each further data path thread of a storage role. */
    private static final long OF_CORE = 16;

    /** Each process of a measurement between two processes: 56 are enough. */
    public static final long OF_PAIR = 64;

    static final String NAME = "Max open files";

    private static final long USUAL_LIMIT = 1024;

    private DescriptorLimit() {}

    /** A storage role with this number of data path threads in a demo. */
    public static long ofRole(int cores) {
        return OF_ROLE + (cores - 1) * OF_CORE;
    }

    /**
     * Checks the limit of this process, which its children inherit.
     *
     * @param command the command that starts them
     * @throws DpuException OPERATING_SYSTEM that names the limit and what is needed
     */
    public static void require(String command, long needed) {
        require(command, needed, new KernelFiles(Path.of("/")));
    }

    static void require(String command, long needed, KernelFiles files) {
        OptionalLong limit = files.limit(NAME);
        if (limit.isPresent() && limit.getAsLong() < needed) {
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    Text.format(
                            "too few descriptors for each process: command=%s,"
                                    + " resource=RLIMIT_NOFILE, limit=%d, expected=%d or more"
                                    + " (ulimit -n %d)",
                            command, limit.getAsLong(), needed, Math.max(needed, USUAL_LIMIT)));
        }
    }
}
