package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MemoryLimitsTest {
    private static final String VERSION_1_MOUNT =
            "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
    private static final String VERSION_2_MOUNT =
            "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    private static final String NO_LIMIT_IN_VERSION_1 = "9223372036854771712\n";

    @TempDir Path root;
    private MemoryLimits limits;

    @BeforeEach
    void describeTheMachine() {
        limits = new MemoryLimits(root);
        write("proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\nMemAvailable:   4096 kB\n");
    }

    @Test
    void shouldTellTheMemoryOfThisMachine() {
        assertThat(MemoryLimits.physicalBytes()).isGreaterThan(64 << 20);
        assertThat(MemoryLimits.availableBytes())
                .isPositive()
                .isLessThanOrEqualTo(MemoryLimits.physicalBytes());
        assertThat(MemoryLimits.totalBytes())
                .isPositive()
                .isLessThanOrEqualTo(MemoryLimits.physicalBytes());
        assertThat(MemoryLimits.freeBytes())
                .isNotNegative()
                .isLessThanOrEqualTo(MemoryLimits.totalBytes());
    }

    @Test
    void shouldReadMeminfo() {
        assertThat(limits.physical()).isEqualTo(16L << 20);
        assertThat(limits.available()).isEqualTo(4L << 20);
    }

    @Test
    void shouldNameTheFileThatDoesNotTellTheMemory() {
        write("proc/meminfo", "MemTotal: much kB\n");

        assertThatThrownBy(limits::physical)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "memory of the machine is not known: file=%s, expected=MemTotal: N kB",
                        root.resolve("proc/meminfo"));
    }

    @Test
    void shouldFindNoLimitWithoutCgroups() {
        assertThat(limits.cgroupLimit()).isEmpty();
        assertThat(limits.free(0)).isEqualTo(new MemoryLimits.Free(4L << 20, "machine"));
    }

    @Test
    void shouldTakeTheLeastLimitOfTheAncestorsInVersion1() {
        write("proc/self/cgroup", "9:name=systemd:/\n4:memory:/outer/inner\n0::/\n");
        write("proc/self/mountinfo", VERSION_1_MOUNT);
        version1("", NO_LIMIT_IN_VERSION_1, 900_000, 0);
        version1("/outer", "800000\n", 700_000, 250_000);
        version1("/outer/inner", "1000000\n", 750_000, 0);

        assertThat(limits.cgroupLimit()).hasValue(800_000);
        assertThat(limits.free(0).bytes()).isEqualTo(250_000);
    }

    @Test
    void shouldTakeTheLeastLimitOfTheAncestorsInVersion2() {
        write("proc/self/cgroup", "0::/user.slice/a:b.scope\n");
        write("proc/self/mountinfo", VERSION_2_MOUNT);
        version2("/user.slice", "2000000\n", "max\n", 1_900_000, 500_000);
        version2("/user.slice/a:b.scope", "max\n", "1500000\n", 600_000, 0);

        assertThat(limits.cgroupLimit()).hasValue(1_500_000);
        assertThat(limits.free(0).bytes()).isEqualTo(600_000);
    }

    @Test
    void shouldFindNoLimitWhereEachCgroupIsUnlimited() {
        write("proc/self/cgroup", "4:cpu,memory:/a\n0::/b\n");
        write("proc/self/mountinfo", VERSION_1_MOUNT + VERSION_2_MOUNT);
        version1("/a", NO_LIMIT_IN_VERSION_1, 1, 0);
        version2("/b", "max\n", "max\n", 1, 0);

        assertThat(limits.cgroupLimit()).isEmpty();
        assertThat(limits.free(0)).isEqualTo(new MemoryLimits.Free(4L << 20, "machine"));
    }

    @Test
    void shouldReadTheFolderThatAContainerMountsAsItsOwnCgroup() {
        write("proc/self/cgroup", "4:memory:/docker/0123/child\n");
        write(
                "proc/self/mountinfo",
                "35 31 0:32 /docker/0123 /sys/fs/my\\040groups ro master:9 - cgroup none"
                        + " rw,memory\n");
        write("sys/fs/my groups/memory.limit_in_bytes", "5000\n");
        write("sys/fs/my groups/memory.usage_in_bytes", "1000\n");
        write("sys/fs/my groups/child/memory.limit_in_bytes", "4000\n");
        write("sys/fs/my groups/child/memory.usage_in_bytes", "4500\n");

        assertThat(limits.cgroupLimit()).hasValue(4000);
        assertThat(limits.free(0).bytes()).as("more in use than allowed").isEqualTo(0);
    }

    @Test
    void shouldReadTheRootOfTheMountWhereThePathLeadsElsewhere() {
        write("proc/self/cgroup", "0::/../../other\n");
        write("proc/self/mountinfo", VERSION_2_MOUNT);
        version2("", "7000\n", "max\n", 2000, 0);
        write("sys/other/memory.max", "1\n");

        assertThat(limits.cgroupLimit()).hasValue(7000);
        assertThat(limits.free(0).bytes()).isEqualTo(5000);
    }

    @Test
    void shouldTakeLinesThatItDoesNotUnderstandForAbsent() {
        write("proc/self/cgroup", "\n:\nmemory\n4:memory:/a\n0::/a\n");
        write(
                "proc/self/mountinfo",
                "\n-\n - \n1 2 - cgroup\n" + VERSION_1_MOUNT + VERSION_2_MOUNT);
        version1("/a", "-5\n", 1, 0);
        version2("/a", "99999999999999999999\n", "", 1, 0);

        assertThat(limits.cgroupLimit()).isEmpty();
        assertThat(limits.free(0)).isEqualTo(new MemoryLimits.Free(4L << 20, "machine"));
    }

    @Test
    void shouldRefuseOneByteMoreThanTheMachineHas() {
        assertThat(limits.shortageOf(4L << 20)).isEmpty();
        assertThat(limits.shortageOf((4L << 20) + 1))
                .hasValue("neededBytes=4194305, availableBytes=4194304, limitedBy=machine");
    }

    @Test
    void shouldNameTheCgroupThatHasLeastInVersion2() {
        write("proc/self/cgroup", "0::/user.slice/a:b.scope\n");
        write("proc/self/mountinfo", VERSION_2_MOUNT);
        version2("/user.slice", "2000000\n", "max\n", 1_900_000, 500_000);
        version2("/user.slice/a:b.scope", "1500000\n", "max\n", 1_000_000, 0);

        assertThat(limits.shortageOf(500_000)).isEmpty();
        assertThat(limits.shortageOf(500_001))
                .hasValue(
                        "neededBytes=500001, availableBytes=500000, limitedBy=cgroup, folder="
                                + root.resolve("sys/fs/cgroup/user.slice/a:b.scope")
                                + ", limitBytes=1500000");
    }

    @Test
    void shouldNameTheAncestorThatHasLeastInVersion1() {
        write("proc/self/cgroup", "4:memory:/outer/inner\n");
        write("proc/self/mountinfo", VERSION_1_MOUNT);
        version1("/outer", "800000\n", 700_000, 0);
        version1("/outer/inner", "1000000\n", 300_000, 0);

        assertThat(limits.shortageOf(100_001))
                .hasValue(
                        "neededBytes=100001, availableBytes=100000, limitedBy=cgroup, folder="
                                + root.resolve("sys/fs/cgroup/memory/outer")
                                + ", limitBytes=800000");
    }

    /** A container of version 1 sees its own cgroup only, whose statistics tell the least limit. */
    @Test
    void shouldKnowTheLimitOfAnAncestorThatAContainerDoesNotSee() {
        write("proc/self/cgroup", "4:memory:/\n");
        write("proc/self/mountinfo", VERSION_1_MOUNT);
        version1("", NO_LIMIT_IN_VERSION_1, 300_000, 0);
        write(
                "sys/fs/cgroup/memory/memory.stat",
                "hierarchical_memory_limit 900000\ntotal_inactive_file 0\n");

        assertThat(limits.cgroupLimit()).hasValue(900_000);
        assertThat(limits.shortageOf(600_000)).isEmpty();
        assertThat(limits.shortageOf(600_001)).isPresent();
    }

    @Test
    void shouldTakeAllCachedFilesForFreeInBothVersions() {
        write("proc/self/cgroup", "4:memory:/a\n0::/b\n");
        write("proc/self/mountinfo", VERSION_1_MOUNT + VERSION_2_MOUNT);
        version1("/a", "1000000\n", 900_000, 0);
        write(
                "sys/fs/cgroup/memory/a/memory.stat",
                "active_file 1\ntotal_active_file 300000\ntotal_inactive_file 200000\n");
        version2("/b", "1000000\n", "max\n", 900_000, 0);
        write(
                "sys/fs/cgroup/b/memory.stat",
                "anon 200000\nshmem 100000\ninactive_file 200000\nactive_file 300000\n"
                        + "slab_reclaimable 20000\nslab_unreclaimable 80000\n");

        assertThat(limits.shortageOf(600_000)).as("version 1 has least").isEmpty();
        assertThat(limits.shortageOf(600_001)).isPresent();
        write("proc/self/cgroup", "0::/b\n");
        assertThat(limits.shortageOf(620_000)).as("version 2").isEmpty();
        assertThat(limits.shortageOf(620_001)).isPresent();
    }

    /**
     * The kernel gives bytes, of which some are no UTF-8, and this JVM may have another encoding.
     */
    @ParameterizedTest
    @ValueSource(strings = {"/a/f\uFFFDb", "/a/f\uFFFDb/c"})
    void shouldFindTheAncestorsOfACgroupWhoseNameCannotBeRepresented(String path) {
        write("proc/self/cgroup", "0::" + path + "\n");
        write("proc/self/mountinfo", VERSION_2_MOUNT);
        version2("/a", "1000000\n", "max\n", 400_000, 0);

        assertThat(limits.shortageOf(600_000)).isEmpty();
        assertThat(limits.shortageOf(600_001)).isPresent();
    }

    @Test
    void shouldCountSwapThatACgroupMayStillFill() {
        write("proc/meminfo", "MemTotal: 4096 kB\nMemAvailable: 4096 kB\nSwapFree: 2048 kB\n");
        assertThat(limits.shortageOf(6L << 20)).as("of the machine").isEmpty();
        assertThat(limits.shortageOf((6L << 20) + 1)).isPresent();

        write("proc/self/cgroup", "4:memory:/a\n0::/b\n");
        write("proc/self/mountinfo", VERSION_2_MOUNT);
        version2("/b", "1000000\n", "max\n", 400_000, 0);
        write("sys/fs/cgroup/b/memory.swap.max", "max\n");
        assertThat(limits.shortageOf(600_000 + (2L << 20))).as("no limit of swap").isEmpty();
        write("sys/fs/cgroup/b/memory.swap.max", "50000\n");
        write("sys/fs/cgroup/b/memory.swap.current", "20000\n");
        assertThat(limits.shortageOf(630_000)).as("version 2").isEmpty();
        assertThat(limits.shortageOf(630_001)).isPresent();

        write("proc/self/mountinfo", VERSION_1_MOUNT);
        version1("/a", "1000000\n", 400_000, 0);
        assertThat(limits.shortageOf(600_000 + (2L << 20))).as("not accounted").isEmpty();
        write("sys/fs/cgroup/memory/a/memory.memsw.limit_in_bytes", "1100000\n");
        write("sys/fs/cgroup/memory/a/memory.memsw.usage_in_bytes", "430000\n");
        assertThat(limits.shortageOf(670_000)).as("version 1").isEmpty();
        assertThat(limits.shortageOf(670_001)).isPresent();
    }

    @Test
    void shouldRefuseNothingWhereAnAmountIsUnknown() {
        write("proc/meminfo", "MemTotal: 16384 kB\n");
        assertThat(limits.shortageOf(Long.MAX_VALUE)).as("no MemAvailable").isEmpty();

        describeTheMachine();
        write("proc/self/cgroup", "0::/b\n");
        write("proc/self/mountinfo", VERSION_2_MOUNT);
        version2("/b", "1000\n", "max\n", 400, 0);
        assertThat(limits.shortageOf(601)).isPresent();
        write("sys/fs/cgroup/b/memory.stat/folder", ""); // cannot be read, not even by root
        assertThat(limits.shortageOf(601)).isEmpty();
    }

    @Test
    void shouldTellHowManyProcessesTheKernelHasKilled() {
        assertThat(limits.killed()).isEmpty();
        write("proc/vmstat", "nr_free_pages 7\noom_kill 3\n");
        assertThat(limits.killed()).hasValue(3);
    }

    private void version1(String cgroup, String limit, long usage, long coldFiles) {
        String folder = "sys/fs/cgroup/memory" + cgroup;
        write(folder + "/memory.limit_in_bytes", limit);
        write(folder + "/memory.usage_in_bytes", usage + "\n");
        write(
                folder + "/memory.stat",
                "cache 1\ninactive_file 1\ntotal_inactive_file " + coldFiles + "\n");
    }

    private void version2(String cgroup, String max, String high, long usage, long coldFiles) {
        String folder = "sys/fs/cgroup" + cgroup;
        write(folder + "/memory.max", max);
        write(folder + "/memory.high", high);
        write(folder + "/memory.current", usage + "\n");
        write(folder + "/memory.stat", "anon 1\ninactive_file " + coldFiles + "\n");
    }

    private void write(String file, String text) {
        try {
            Path place = root.resolve(file);
            if (Files.isRegularFile(place.getParent())) {
                Files.delete(place.getParent());
            }
            Files.createDirectories(place.getParent());
            Files.writeString(place, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
