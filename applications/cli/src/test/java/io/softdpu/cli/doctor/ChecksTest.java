package io.softdpu.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.cli.doctor.Finding.Grade;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Topology;
import io.softdpu.fabric.folder.FolderReport;
import io.softdpu.linux.text.Text;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the checks of the doctor, with a folder in place of /proc and /sys. */
class ChecksTest {
    @TempDir Path root;

    private SystemChecks system() {
        return new SystemChecks(new KernelFiles(root));
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private void limits(String fileSize, String addressSpace, String openFiles) throws IOException {
        write(
                "proc/self/limits",
                Text.format(
                        """
                        Limit                     Soft Limit           Hard Limit           Units
                        Max file size             %-20s unlimited            bytes
                        Max address space         %-20s unlimited            bytes
                        Max open files            %-20s 1048576              files
                        Max locked memory         65536                65536                bytes
                        """,
                        fileSize, addressSpace, openFiles));
    }

    private static void assertGrade(Grade grade, Finding finding, String detail) {
        assertThat(finding.grade()).as(finding.toString()).isEqualTo(grade);
        assertThat(finding.detail()).contains(detail);
        assertThat(finding.remedy() == null).as(finding.toString()).isEqualTo(grade == Grade.OK);
    }

    @ParameterizedTest
    @CsvSource({
        "unlimited, unlimited, 1024, OK, OK, OK",
        "1073741824, 68719476736, 256, OK, OK, OK",
        "268435456, 1073741824, 128, WARNING, WARNING, WARNING",
        "unlimited, unlimited, 95, OK, OK, ERROR",
        "1048576, 1048576, 20, ERROR, ERROR, ERROR",
        "0, 0, 0, ERROR, ERROR, ERROR"
    })
    void shouldJudgeTheLimitsOfTheProcess(
            String fileSize,
            String addressSpace,
            String openFiles,
            Grade ofFileSize,
            Grade ofAddressSpace,
            Grade ofOpenFiles)
            throws IOException {
        limits(fileSize, addressSpace, openFiles);
        assertGrade(
                ofFileSize, system().fileSize(), "resource=RLIMIT_FSIZE, limitBytes=" + fileSize);
        assertGrade(
                ofAddressSpace,
                system().addressSpace(),
                "resource=RLIMIT_AS, limitBytes=" + addressSpace);
        assertGrade(
                ofOpenFiles, system().openFiles(), "resource=RLIMIT_NOFILE, limit=" + openFiles);
        assertGrade(
                Grade.OK,
                system().lockedMemory(),
                "resource=RLIMIT_MEMLOCK, limitBytes=65536, neededBytes=0");
    }

    @Test
    void shouldAcceptWhatTheKernelDoesNotTell() {
        assertGrade(Grade.OK, system().fileSize(), "unknown");
        assertGrade(Grade.OK, system().lockedMemory(), "unknown");
        assertGrade(Grade.OK, system().overcommit(), "unknown");
        assertGrade(Grade.OK, system().hugePages(), "unknown");
        assertGrade(Grade.OK, system().clock(), "unknown");
        assertGrade(Grade.OK, system().processors(4), "available=4, quota=none");
    }

    @ParameterizedTest
    @CsvSource({"1, WARNING, threads share them", "2, OK, threads share them", "3, OK, for each"})
    void shouldTellWhetherEachPollerHasAProcessor(int available, Grade grade, String detail) {
        assertGrade(grade, system().processors(available), detail);
    }

    @ParameterizedTest
    @CsvSource({
        "'0::/', '', 200000 100000, 2.00",
        "'0::/a/b', a, 50000 100000, 0.50",
        "'0::/a/b', a/b, 150000 100000, 1.50",
        "'0::/a/b', a/b, max 100000, none",
        "'0::/a/b', other, 50000 100000, none",
        "'0::/../a', '', 50000 100000, 0.50",
        "'0::/a', a, nonsense, none"
    })
    void shouldFindTheQuotaOfTheCgroupOrOfOneAboveIt(
            String membership, String folder, String max, String quota) throws IOException {
        write("proc/self/cgroup", membership + "\n");
        write("sys/fs/cgroup/" + folder + "/cpu.max", max + "\n");
        assertGrade(
                quota.equals("none") ? Grade.OK : Grade.WARNING,
                system().processors(4),
                "available=4, quota=" + quota);
    }

    @Test
    void shouldFindTheQuotaOfVersionOne() throws IOException {
        write("proc/self/cgroup", "3:cpuset:/\n2:cpu,cpuacct:/a\n0::/\n");
        write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "25000\n");
        write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
        assertGrade(Grade.WARNING, system().processors(4), "quota=0.25");
        write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
        assertGrade(Grade.OK, system().processors(4), "quota=none");
        assertGrade(Grade.WARNING, system().processors(1), "available=1");
    }

    @Test
    void shouldNameTheMethodOfBlockDevicesAndWhyItIsNotIoUring() {
        assertGrade(Grade.OK, SystemChecks.blockDevices(null), "method=io_uring");
        assertGrade(
                Grade.WARNING,
                SystemChecks.blockDevices("io_uring_setup failed: errno=1 (EPERM)"),
                "method=threads, reason=io_uring_setup failed: errno=1 (EPERM)");
    }

    @ParameterizedTest
    @CsvSource({"0, OK", "1, OK", "2, WARNING"})
    void shouldWarnOfStrictOvercommit(String mode, Grade grade) throws IOException {
        write("proc/sys/vm/overcommit_memory", mode + "\n");
        assertGrade(grade, system().overcommit(), "vm.overcommit_memory=" + mode);
    }

    @ParameterizedTest
    @CsvSource({
        "always [madvise] never, OK",
        "[always] madvise never, OK",
        "always madvise [never], WARNING"
    })
    void shouldWarnWhereHugePagesAreOff(String modes, Grade grade) throws IOException {
        write("sys/kernel/mm/transparent_hugepage/enabled", modes + "\n");
        assertGrade(grade, system().hugePages(), modes);
    }

    @ParameterizedTest
    @CsvSource({
        "tsc, OK",
        "kvm-clock, OK",
        "arch_sys_counter, OK",
        "hpet, WARNING",
        "acpi_pm, WARNING"
    })
    void shouldWarnOfASlowClock(String source, Grade grade) throws IOException {
        write("sys/devices/system/clocksource/clocksource0/current_clocksource", source + "\n");
        assertGrade(grade, system().clock(), "clocksource=" + source);
    }

    @ParameterizedTest
    @CsvSource({"1073741824, OK", "268435456, WARNING", "1048576, ERROR"})
    void shouldJudgeTheFreeMemory(long free, Grade grade) {
        assertGrade(
                grade,
                SystemChecks.memory(free, OptionalLong.empty()),
                "freeBytes=" + free + ", cgroupLimitBytes=none");
        assertGrade(grade, SystemChecks.memory(free, OptionalLong.of(7)), "cgroupLimitBytes=7");
    }

    @Test
    void shouldFailWithoutSharedMemory() {
        assertGrade(Grade.OK, SystemChecks.sharedMemory(() -> {}), "memfd=works");
        assertGrade(
                Grade.ERROR,
                SystemChecks.sharedMemory(() -> {
                    throw new IllegalStateException("memfd_create failed: errno=1 (EPERM)");
                }),
                "memfd=memfd_create failed: errno=1 (EPERM)");
    }

    @ParameterizedTest
    @CsvSource({"25.0.1+8, OK", "26-ea, OK", "24.0.2, ERROR", "17.0.15, ERROR"})
    void shouldNeedANewJdk(String version, Grade grade) {
        assertGrade(grade, JavaChecks.jdk(Runtime.Version.parse(version), "/jdk"), "home=/jdk");
    }

    @Test
    void shouldWarnWithoutNativeAccess() {
        assertGrade(Grade.OK, JavaChecks.nativeAccess(true), "enabled");
        assertGrade(Grade.WARNING, JavaChecks.nativeAccess(false), "not enabled");
    }

    private static FolderReport report(boolean exists, @Nullable String problem, String... left) {
        return new FolderReport(Path.of("/fabric"), exists, 7, 0700, problem, List.of(left));
    }

    @Test
    void shouldJudgeTheFabricFolder() {
        assertGrade(
                Grade.OK,
                FolderChecks.fabric(report(true, null)),
                "path=/fabric, owner=7, mode=0700");
        assertGrade(Grade.OK, FolderChecks.fabric(report(false, null)), "exists=no");
        assertGrade(Grade.ERROR, FolderChecks.fabric(report(true, "not private")), "not private");
        assertGrade(Grade.OK, FolderChecks.leftovers(report(true, null), false), "files=0");
        assertGrade(
                Grade.WARNING,
                FolderChecks.leftovers(report(true, null, "a.lock", "b.lock"), false),
                "files=2, first=a.lock");
        assertGrade(
                Grade.OK,
                FolderChecks.leftovers(report(true, null, "a.lock"), true),
                "files=1, removed=yes");
    }

    @Test
    void shouldJudgeTheFolderOfTheLauncher() throws IOException {
        assertGrade(Grade.OK, FolderChecks.cache(""), "folder=default");
        assertGrade(Grade.OK, FolderChecks.cache(root.toString()), root.toString());
        assertGrade(Grade.OK, FolderChecks.cache(root.resolve("new").toString()), "new");
        assertGrade(Grade.WARNING, FolderChecks.cache("relative/folder"), "relative/folder");
        Path file = Files.createFile(root.resolve("file"));
        assertGrade(Grade.WARNING, FolderChecks.cache(file.toString()), "file");
    }

    @Test
    void shouldWarnOfAnEncodingInWhichNamesCannotBeWritten() {
        assertGrade(Grade.OK, JavaChecks.encoding("UTF-8"), "encoding=UTF-8");
        assertGrade(Grade.WARNING, JavaChecks.encoding("ANSI_X3.4-1968"), "ANSI_X3.4-1968");
    }

    @Test
    void shouldTryTheTemporaryFolderAndLeaveNothing() throws IOException {
        assertGrade(Grade.OK, FolderChecks.temporary(root), "path=" + root);
        assertThat(root).isEmptyDirectory();
        assertGrade(Grade.ERROR, FolderChecks.temporary(root.resolve("none")), "reason=");
        Path file = Files.createFile(root.resolve("file"));
        assertGrade(Grade.ERROR, FolderChecks.temporary(file), "path=" + file);
        // Not even root can make a folder there.
        assertGrade(Grade.ERROR, FolderChecks.temporary(Path.of("/proc")), "path=/proc");
    }

    @Test
    void shouldOpenTheMachinesOfAllSidesAndLeaveNothing() throws IOException {
        assertGrade(
                Grade.OK, CardCheck.devices(Topology::builtin, root), "topology=default, devices=");
        assertThat(root).isEmptyDirectory();
        Path missing = root.resolve("a/missing");
        assertGrade(
                Grade.OK,
                CardCheck.devices(
                        new FolderReport(missing, false, 0, 0, null, List.of()), false, root),
                "devices=");
        assertThat(root).isEmptyDirectory();
    }

    @Test
    void shouldFailWhereTheMachinesCannotBeOpened() {
        assertGrade(
                Grade.ERROR,
                CardCheck.devices(
                        () -> {
                            throw new DpuException(Status.BAD_CONFIG, "topology refused: file=x");
                        },
                        root),
                "topology refused: file=x");
        assertGrade(
                Grade.ERROR,
                CardCheck.devices(
                        () -> {
                            throw new ExceptionInInitializerError(
                                    new IllegalStateException("not an IPv4 address"));
                        },
                        root),
                "not an IPv4 address");
        assertGrade(
                Grade.ERROR,
                CardCheck.devices(
                        () -> {
                            throw new OutOfMemoryError("unable to create native thread");
                        },
                        root),
                "unable to create native thread");
        assertGrade(
                Grade.ERROR, CardCheck.devices(Topology::builtin, root.resolve("none")), "none");
        assertGrade(
                Grade.ERROR,
                CardCheck.devices(report(true, "not private"), false, root),
                "fabric folder");
    }

    @Test
    void shouldExamineThisMachineAndNameEachCheckOnce() {
        List<Finding> findings = Doctor.examine(false);
        assertThat(findings).extracting(Finding::check).doesNotHaveDuplicates();
        assertThat(findings)
                .allSatisfy(finding ->
                        assertThat(finding.remedy() == null)
                                .isEqualTo(finding.grade() == Grade.OK));
    }
}
