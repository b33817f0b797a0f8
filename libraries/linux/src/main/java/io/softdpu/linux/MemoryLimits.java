package io.softdpu.linux;

import io.softdpu.linux.text.GivenText;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Amounts of memory that this process may use: of the machine, by {@code /proc/meminfo}, and of its
 * memory cgroup, version 1 or 2, by {@code /sys/fs/cgroup}. Each call reads the files again, so it
 * is for the beginning of a session and not for a data path. Any thread.
 *
 * <p>A cgroup is limited by all of its ancestors too, so each amount of a cgroup is the minimum
 * over the cgroup of this process and those of its ancestors that can be seen from here: inside a
 * container the ones outside of it cannot. The files are read and not asked from the JDK, which
 * answers for the limits of the heap and may be told to ignore containers.
 */
public final class MemoryLimits {
    /**
     * Numbers from this value on in a cgroup's file mean "no limit"; version 1 has no keyword for
     * it.
     */
    private static final long UNLIMITED_BYTES = 1L << 62;

    private static final MemoryLimits SYSTEM = new MemoryLimits(Path.of("/"));

    /**
     * Memory that can be had now.
     *
     * @param bytes 0 or more
     * @param limitedBy what has no more: {@code machine}, or {@code cgroup} with its folder and its
     *     limit, as {@code key=value} after the first word
     */
    public record Free(long bytes, String limitedBy) {}

    /** The folder that holds {@code proc} and {@code sys}; another one in tests. */
    private final Path root;

    MemoryLimits(Path root) {
        this.root = root;
    }

    /**
     * The memory of the machine.
     *
     * @return MemTotal
     * @throws UncheckedIOException if a file cannot be read, for example for lack of a descriptor
     * @throws IllegalStateException if /proc/meminfo does not have it
     */
    public static long physicalBytes() {
        return SYSTEM.physical();
    }

    /**
     * The memory of the machine that can be had without swapping.
     *
     * @return MemAvailable
     * @throws UncheckedIOException if a file cannot be read, for example for lack of a descriptor
     * @throws IllegalStateException if /proc/meminfo does not have it
     */
    public static long availableBytes() {
        return SYSTEM.available();
    }

    /**
     * The limit of this process's memory cgroup.
     *
     * @return {@code memory.max} or {@code memory.high} of version 2, {@code memory.limit_in_bytes}
     *     of version 1, the minimum of the cgroup and its ancestors; empty if there is no limit
     */
    public static OptionalLong cgroupLimitBytes() {
        return SYSTEM.cgroupLimit();
    }

    /**
     * The memory that this process can ever have.
     *
     * @return {@link #physicalBytes()} or {@link #cgroupLimitBytes()}, whichever is less
     */
    public static long totalBytes() {
        return Math.min(physicalBytes(), cgroupLimitBytes().orElse(Long.MAX_VALUE));
    }

    /**
     * The memory that this process can have now without swapping, and what limits it.
     *
     * @return {@link #availableBytes()}, or what a memory cgroup of this process or an ancestor can
     *     still take up, whichever is less. That is its limit less what is in use, 0 or more;
     *     cached files count as free, since the kernel reclaims them.
     */
    public static Free free() {
        return SYSTEM.free(0);
    }

    /** The bytes of {@link #free}. */
    public static long freeBytes() {
        return free().bytes();
    }

    /**
     * Checks an amount of memory before it is populated: where it is more than there is, the kernel
     * refuses nothing and kills a process. Memory that can be swapped out counts, so only what is
     * sure to fail is refused, and nothing is where an amount is unknown.
     *
     * @param neededBytes memory that is to be populated, in this process and in those that it is
     *     about to start
     * @return the needed and the available bytes and what limits them, as {@code key=value}; empty
     *     if there is enough
     */
    public static Optional<String> shortage(long neededBytes) {
        return SYSTEM.shortageOf(neededBytes);
    }

    /**
     * How many processes of this machine the kernel has killed for lack of memory, in whatever
     * cgroup.
     *
     * @return {@code oom_kill} of {@code /proc/vmstat}; empty if the kernel does not tell it
     */
    public static OptionalLong killedProcesses() {
        return SYSTEM.killed();
    }

    long physical() {
        return meminfo("MemTotal:");
    }

    long available() {
        return meminfo("MemAvailable:");
    }

    Optional<String> shortageOf(long neededBytes) {
        Free free;
        try {
            free = free(swap());
        } catch (UncheckedIOException | IllegalStateException unknown) { // may be enough
            return Optional.empty();
        }
        return neededBytes <= free.bytes()
                ? Optional.empty()
                : Optional.of(
                        Text.format(
                                "neededBytes=%d, availableBytes=%d, limitedBy=%s",
                                neededBytes, free.bytes(), free.limitedBy()));
    }

    OptionalLong killed() {
        try {
            return valueIn(root.resolve("proc/vmstat"), "oom_kill");
        } catch (UncheckedIOException unknown) { // only a hint in the message of another failure
            return OptionalLong.empty();
        }
    }

    /** The machine's free memory or that of the cgroup that has least, each with this swap. */
    Free free(long swapBytes) {
        Free least = new Free(available() + swapBytes, "machine");
        for (Cgroup cgroup : cgroups()) {
            long limit = cgroup.limitBytes();
            long bytes = isLimit(limit) ? cgroup.availableBytes(limit) + swapBytes : Long.MAX_VALUE;
            if (bytes < least.bytes()) {
                least =
                        new Free(
                                bytes,
                                Text.format(
                                        "cgroup, folder=%s, limitBytes=%d",
                                        cgroup.folder(), limit));
            }
        }
        return least;
    }

    /** Swap that this process can still fill: the machine's, within the limits of its cgroups. */
    private long swap() {
        long least = valueIn(root.resolve("proc/meminfo"), "SwapFree:").orElse(0) << 10;
        for (Cgroup cgroup : least == 0 ? List.<Cgroup>of() : cgroups()) {
            least = Math.min(least, cgroup.swapBytes());
        }
        return least;
    }

    OptionalLong cgroupLimit() {
        return cgroups().stream().mapToLong(Cgroup::limitBytes).filter(MemoryLimits::isLimit).min();
    }

    private static boolean isLimit(long bytes) {
        return bytes < UNLIMITED_BYTES;
    }

    private long meminfo(String key) {
        Path file = root.resolve("proc/meminfo");
        return valueIn(file, key)
                        .orElseThrow(() ->
                                new IllegalStateException(
                                        "memory of the machine is not known: file="
                                                + file
                                                + ", expected="
                                                + key
                                                + " N kB"))
                << 10;
    }

    /** One cgroup's folder, in the files of one version. */
    private record Cgroup(Path folder, Hierarchy hierarchy) {
        long limitBytes() {
            // Above memory.high a process is slowed down until it stands still, so it counts too.
            return Math.min(
                    Math.min(
                            bytesIn(hierarchy.hardLimitFile, Long.MAX_VALUE),
                            bytesIn(hierarchy.softLimitFile, Long.MAX_VALUE)),
                    // Of ancestors too that a container does not see; version 1 only.
                    statistic("hierarchical_memory_limit").orElse(Long.MAX_VALUE));
        }

        long availableBytes(long limitBytes) {
            // Cached files, and the kernel's tables of them, are charged and reclaimed; memfds and
            // tmpfs are not among them.
            long reclaimable =
                    statistic(hierarchy.fileKeys + "inactive_file").orElse(0)
                            + statistic(hierarchy.fileKeys + "active_file").orElse(0)
                            + statistic("slab_reclaimable").orElse(0); // of version 2
            long used = Math.max(0, bytesIn(hierarchy.usageFile, 0) - reclaimable);
            return Math.max(0, limitBytes - used);
        }

        /** Limit less use of swap; version 1 limits and counts it together with the memory. */
        long swapBytes() {
            long limit = bytesIn(hierarchy.swapLimitFile, Long.MAX_VALUE);
            if (!isLimit(limit)) {
                return Long.MAX_VALUE;
            }
            long memory =
                    hierarchy == Hierarchy.VERSION_1
                            ? limitBytes() - bytesIn(hierarchy.usageFile, 0)
                            : 0;
            return Math.max(0, limit - bytesIn(hierarchy.swapUsageFile, 0) - memory);
        }

        private long bytesIn(String file, long otherwise) {
            return numberIn(folder.resolve(file)).orElse(otherwise);
        }

        private OptionalLong statistic(String key) {
            return valueIn(folder.resolve("memory.stat"), key);
        }
    }

    /** The two versions of cgroups; a machine can have memory in either, and mount both. */
    private enum Hierarchy {
        VERSION_1(
                "cgroup",
                "memory.limit_in_bytes",
                "memory.limit_in_bytes", // its soft limit slows nothing down
                "memory.usage_in_bytes",
                "memory.memsw.limit_in_bytes",
                "memory.memsw.usage_in_bytes",
                "total_"),
        VERSION_2(
                "cgroup2",
                "memory.max",
                "memory.high",
                "memory.current",
                "memory.swap.max",
                "memory.swap.current",
                "");

        final String fileSystem;
        final String hardLimitFile;
        final String softLimitFile;
        final String usageFile;
        final String swapLimitFile;
        final String swapUsageFile;

        /** Begin of the keys in memory.stat that count the cgroups below, too. */
        final String fileKeys;

        Hierarchy(
                String fileSystem,
                String hardLimitFile,
                String softLimitFile,
                String usageFile,
                String swapLimitFile,
                String swapUsageFile,
                String fileKeys) {
            this.fileSystem = fileSystem;
            this.hardLimitFile = hardLimitFile;
            this.softLimitFile = softLimitFile;
            this.usageFile = usageFile;
            this.swapLimitFile = swapLimitFile;
            this.swapUsageFile = swapUsageFile;
            this.fileKeys = fileKeys;
        }

        /** Whether a line of /proc/self/cgroup with these controllers is of this version. */
        boolean hasMemory(String controllers) {
            return this == VERSION_2 ? controllers.isEmpty() : lists(controllers, "memory");
        }

        /** Whether a mount of this version with these options shows the memory of cgroups. */
        boolean isMount(String type, String options) {
            return type.equals(fileSystem) && (this == VERSION_2 || lists(options, "memory"));
        }

        private static boolean lists(String commaSeparated, String word) {
            return Arrays.asList(commaSeparated.split(",")).contains(word);
        }
    }

    /** The cgroup of this process and its ancestors, in each version. */
    private List<Cgroup> cgroups() {
        List<String> memberships = lines(root.resolve("proc/self/cgroup"));
        List<String> mounts = lines(root.resolve("proc/self/mountinfo"));
        List<Cgroup> found = new ArrayList<>();
        for (Hierarchy hierarchy : Hierarchy.values()) {
            for (String line : memberships) {
                // hierarchy-ID:controllers:path, where the path may hold colons.
                String[] fields = line.split(":", 3);
                if (fields.length == 3 && hierarchy.hasMemory(fields[1])) {
                    for (String mount : mounts) {
                        addCgroups(found, hierarchy, mount, fields[2]);
                    }
                }
            }
        }
        return found;
    }

    /** Adds those cgroups on the path that a mount shows: its own root and all below it. */
    private void addCgroups(
            List<Cgroup> found, Hierarchy hierarchy, String mountLine, String cgroupPath) {
        // id parent major:minor root mount-point options [more ...] - type source super-options
        String[] halves = mountLine.split(" - ", 2);
        String[] mount = halves[0].split(" ");
        String[] type = halves.length < 2 ? new String[0] : halves[1].split(" ");
        if (mount.length < 5 || type.length < 3 || !hierarchy.isMount(type[0], type[2])) {
            return;
        }
        String point = unescape(mount[4]).substring(1);
        String top = unescape(mount[3]);
        if (!GivenText.isWhatWasGiven(point) || !GivenText.isWhatWasGiven(top)) {
            return;
        }
        Path shown = Path.of(top);
        // Of a cgroup whose name cannot be represented at least the ancestors are found.
        Path own = Path.of(GivenText.representablePart(cgroupPath));
        // A path is not below what a container mounts where its cgroup was bound there from
        // outside; it begins with ".." where the process was moved out of its cgroup namespace.
        boolean below = own.equals(own.normalize()) && own.startsWith(shown);
        Path relative = below ? shown.relativize(own) : Path.of("");
        Path folder = root.resolve(point);
        found.add(new Cgroup(folder, hierarchy));
        for (Path name : relative) {
            folder = folder.resolve(name);
            found.add(new Cgroup(folder, hierarchy));
        }
    }

    /** Turns the kernel's three octal digits after a backslash back into characters. */
    private static String unescape(String field) {
        StringBuilder plain = new StringBuilder();
        for (int at = 0; at < field.length(); at++) {
            char next = field.charAt(at);
            if (next == '\\' && field.substring(at + 1).matches("(?s)[0-3][0-7]{2}.*")) {
                plain.append((char) Integer.parseInt(field.substring(at + 1, at + 4), 8));
                at += 3;
            } else {
                plain.append(next);
            }
        }
        return plain.toString();
    }

    /** The number after a key, in a file with one key per line. */
    private static OptionalLong valueIn(Path file, String key) {
        for (String line : lines(file)) {
            if (line.startsWith(key)) { // splits none of the many others
                String[] fields = line.split("\\s+");
                if (fields.length >= 2 && fields[0].equals(key)) {
                    return number(fields[1]);
                }
            }
        }
        return OptionalLong.empty();
    }

    private static OptionalLong numberIn(Path file) {
        List<String> lines = lines(file);
        return lines.isEmpty() ? OptionalLong.empty() : number(lines.getFirst().strip());
    }

    /** A number without a sign; more than a long holds counts as the largest long. */
    private static OptionalLong number(String text) {
        if (!text.matches("[0-9]{1,20}")) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(Long.parseLong(text));
        } catch (NumberFormatException tooLarge) {
            return OptionalLong.of(Long.MAX_VALUE);
        }
    }

    /** The lines of a file; none where there is no such file, as in the root cgroup. */
    static List<String> lines(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList();
        } catch (NoSuchFileException | AccessDeniedException hidden) { // no limit that shows
            return List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "file of the system cannot be read: file=" + file + ", cause=" + Reason.of(e),
                    e);
        }
    }
}
