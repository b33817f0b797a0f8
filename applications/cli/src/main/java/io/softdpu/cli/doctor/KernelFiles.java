package io.softdpu.cli.doctor;

import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.text.GivenText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Files of {@code /proc} and {@code /sys}.
 *
 * @param root folder that holds proc and sys; another one in tests
 */
record KernelFiles(Path root) {
    /** The limit of a process where none is set. */
    static final long UNLIMITED = Long.MAX_VALUE;

    /** The text of a file without blanks at its ends; empty if it cannot be read. */
    Optional<String> text(String file) {
        try {
            return Optional.of(
                    CheckedFile.readText(root.resolve(file), FilePolicy.USER_TEXT).strip());
        } catch (IOException e) {
            return Optional.empty(); // not on this kernel, or hidden in a container
        }
    }

    /**
     * A soft limit of this process.
     *
     * @param name as in {@code /proc/self/limits}, for example {@code Max file size}
     * @return {@link #UNLIMITED} if there is no limit; empty if it is not known
     */
    OptionalLong limit(String name) {
        return text("proc/self/limits").stream()
                .flatMap(String::lines)
                .filter(line -> line.startsWith(name + "  "))
                .map(line -> line.substring(name.length()).strip().split(" +")[0])
                .flatMapToLong(soft -> number(soft).stream())
                .findFirst();
    }

    private static OptionalLong number(String text) {
        if (text.equals("unlimited")) {
            return OptionalLong.of(UNLIMITED);
        }
        return text.matches("[0-9]{1,18}")
                ? OptionalLong.of(Long.parseLong(text))
                : OptionalLong.empty();
    }

    /**
     * The processors that the CPU cgroups of this process allow, as a fraction.
     *
     * @return the minimum over the cgroup and its ancestors; empty if there is no quota
     */
    Optional<Double> cpuQuota() {
        Optional<Double> least = Optional.empty();
        for (String line : text("proc/self/cgroup").orElse("").lines().toList()) {
            String[] fields = line.split(":", 3); // hierarchy-ID:controllers:path
            if (fields.length < 3) {
                continue;
            }
            boolean isSecond = fields[1].isEmpty();
            Path mount = Path.of(isSecond ? "sys/fs/cgroup" : "sys/fs/cgroup/cpu");
            if (!isSecond && !fields[1].matches("(.*,)?cpu(,.*)?")) {
                continue;
            }
            String own = GivenText.representablePart("/" + fields[2]);
            Path relative = Path.of("/").relativize(Path.of(own).normalize());
            for (int names = 0; names <= relative.getNameCount(); names++) {
                Path folder = names == 0 ? mount : mount.resolve(relative.subpath(0, names));
                Optional<Double> quota = isSecond ? ofSecond(folder) : ofFirst(folder);
                if (quota.isPresent() && (least.isEmpty() || quota.get() < least.get())) {
                    least = quota;
                }
            }
        }
        return least;
    }

    /** Of version 2: {@code cpu.max} holds quota and period. */
    private Optional<Double> ofSecond(Path folder) {
        String[] max = text(folder.resolve("cpu.max").toString()).orElse("max").split(" +");
        return max.length == 2 ? ratio(max[0], max[1]) : Optional.empty();
    }

    private Optional<Double> ofFirst(Path folder) {
        return ratio(
                text(folder.resolve("cpu.cfs_quota_us").toString()).orElse("-1"),
                text(folder.resolve("cpu.cfs_period_us").toString()).orElse("0"));
    }

    private static Optional<Double> ratio(String quota, String period) {
        boolean isSet = quota.matches("[0-9]{1,15}") && period.matches("[1-9][0-9]{0,14}");
        return isSet
                ? Optional.of(Double.parseDouble(quota) / Double.parseDouble(period))
                : Optional.empty();
    }
}
