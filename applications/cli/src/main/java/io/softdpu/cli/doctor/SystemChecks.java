package io.softdpu.cli.doctor;

import io.softdpu.linux.text.Reason;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks of processors, memory and limits. */
final class SystemChecks {
    private static final long MIB = 1L << 20;

    /** Memory of the default demo: a volume of 64 MiB in two processes, and three JVMs. */
    private static final long DEMO_BYTES = 512 * MIB;

    private static final long LEAST_BYTES = 128 * MIB;

    /** Descriptors of a session of a storage role, and as many again. */
    private static final long LEAST_DESCRIPTORS = 256;

    /** Threads of the pipeline that poll: one of each process of the demo. */
    private static final int POLLERS = 3;

    /** Clock sources that are read without a system call. */
    private static final Set<String> FAST_CLOCKS =
            Set.of("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page");

    private final KernelFiles files;

    SystemChecks(KernelFiles files) {
        this.files = files;
    }

    /**
     * Processors of this process.
     *
     * @param available by affinity and quota
     */
    Finding processors(int available) {
        Optional<Double> quota = files.cpuQuota();
        String detail =
                "available="
                        + available
                        + ", quota="
                        + quota.map(one -> String.format(Locale.ROOT, "%.2f", one)).orElse("none");
        if (quota.isPresent()) {
            return Finding.warning(
                    "processors",
                    detail,
                    "threads that poll use up a quota, and all then stop for the rest of the"
                            + " period: measure without a quota");
        }
        detail +=
                available >= POLLERS
                        ? ", demo=a processor for each of its 3 threads"
                        : ", demo=its 3 threads share them, and a request waits until one yields";
        return available >= 2
                ? Finding.ok("processors", detail)
                : Finding.warning(
                        "processors",
                        detail,
                        "two processes share one processor: measure on a machine with two or more");
    }

    /** RLIMIT_FSIZE, which applies to memory files, too. */
    Finding fileSize() {
        return atLeast(
                "size of memory files",
                "resource=RLIMIT_FSIZE, limitBytes=",
                files.limit("Max file size"),
                DEMO_BYTES,
                LEAST_BYTES,
                "raise the limit: ulimit -f unlimited");
    }

    /** RLIMIT_AS. */
    Finding addressSpace() {
        return atLeast(
                "address space",
                "resource=RLIMIT_AS, limitBytes=",
                files.limit("Max address space"),
                16L << 30,
                LEAST_BYTES,
                "raise the limit: ulimit -v unlimited");
    }

    /** RLIMIT_NOFILE. */
    Finding openFiles() {
        return atLeast(
                "open files",
                "resource=RLIMIT_NOFILE, limit=",
                files.limit(DescriptorLimit.NAME),
                LEAST_DESCRIPTORS,
                DescriptorLimit.OF_ROLE,
                "raise the limit: ulimit -n 1024");
    }

    private static Finding atLeast(
            String check, String keys, OptionalLong limit, long enough, long least, String remedy) {
        if (limit.isEmpty()) {
            return Finding.ok(check, keys + "unknown");
        }
        long value = limit.getAsLong();
        String detail = keys + (value == KernelFiles.UNLIMITED ? "unlimited" : value);
        if (value >= enough) {
            return Finding.ok(check, detail);
        }
        return value >= least
                ? Finding.warning(check, detail, remedy)
                : Finding.error(check, detail, remedy);
    }

    /** RLIMIT_MEMLOCK, which softdpu does not need. */
    Finding lockedMemory() {
        OptionalLong limit = files.limit("Max locked memory");
        String value =
                limit.isEmpty()
                        ? "unknown"
                        : limit.getAsLong() == KernelFiles.UNLIMITED
                                ? "unlimited"
                                : Long.toString(limit.getAsLong());
        return Finding.ok(
                "locked memory",
                "resource=RLIMIT_MEMLOCK, limitBytes=" + value + ", neededBytes=0");
    }

    /** vm.overcommit_memory: with 2 each private mapping counts in full. */
    Finding overcommit() {
        String mode = files.text("proc/sys/vm/overcommit_memory").orElse("unknown");
        String detail = "vm.overcommit_memory=" + mode;
        return mode.equals("2")
                ? Finding.warning(
                        "overcommit",
                        detail,
                        "address space of JVMs counts as memory: sysctl vm.overcommit_memory=0, or"
                                + " -Xmx256m in SOFTDPU_JAVA_OPTS")
                : Finding.ok("overcommit", detail);
    }

    /**
     * Memory for volumes and heaps.
     *
     * @param free that this process can have now, by machine and cgroup
     * @param cgroup limit of the memory cgroup
     */
    static Finding memory(long free, OptionalLong cgroup) {
        String detail =
                "freeBytes="
                        + free
                        + ", cgroupLimitBytes="
                        + (cgroup.isPresent() ? Long.toString(cgroup.getAsLong()) : "none");
        if (free >= DEMO_BYTES) {
            return Finding.ok("memory", detail);
        }
        String remedy = "free memory, raise the limit of the cgroup, or take small volumes";
        return free >= LEAST_BYTES
                ? Finding.warning("memory", detail, remedy)
                : Finding.error("memory", detail, remedy);
    }

    /** Creation of a memory file, as each export needs one. */
    static Finding sharedMemory(Runnable allocate) {
        try {
            allocate.run();
            return Finding.ok("shared memory", "memfd=works, /dev/shm=not needed");
        } catch (RuntimeException e) {
            return Finding.error(
                    "shared memory",
                    "memfd=" + Reason.of(e),
                    "allow memfd_create and fallocate in the container's seccomp profile, and raise"
                            + " its limits");
        }
    }

    /**
     * The method by which block devices reach their files.
     *
     * @param refusal the reason why it is not io_uring; null if it is
     */
    static Finding blockDevices(@Nullable String refusal) {
        return refusal == null
                ? Finding.ok("block devices", "method=io_uring")
                : Finding.warning(
                        "block devices",
                        "method=threads, reason=" + refusal,
                        "file volumes are slower: allow io_uring_setup, io_uring_enter and"
                                + " io_uring_register in the container's seccomp profile, and set"
                                + " the sysctl kernel.io_uring_disabled to 0");
    }

    /** Transparent huge pages, for memory that is not exported. */
    Finding hugePages() {
        String file = "sys/kernel/mm/transparent_hugepage/enabled";
        String modes = files.text(file).orElse("unknown");
        String detail = "transparent_hugepage/enabled=" + modes;
        return modes.contains("[never]")
                ? Finding.warning(
                        "huge pages",
                        detail,
                        "large copies are slower: echo madvise > /" + file + " as root")
                : Finding.ok("huge pages", detail);
    }

    /** The clock source: progress engines read the clock often. */
    Finding clock() {
        String source =
                files.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
                        .orElse("unknown");
        String detail = "clocksource=" + source;
        return FAST_CLOCKS.contains(source) || source.equals("unknown")
                ? Finding.ok("clock", detail)
                : Finding.warning(
                        "clock",
                        detail,
                        "each reading takes a system call, and figures suffer: boot with"
                                + " clocksource=tsc if the processor has a stable one");
    }
}
