package io.softdpu.cli.doctor;

import io.softdpu.core.process.SharedFolder;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.folder.FolderReport;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.Memfd;
import io.softdpu.linux.MemoryLimits;
import io.softdpu.linux.Uring;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** All checks, with what this process and this machine give them. */
public final class Doctor {
    private static final long TRIED_BYTES = 1 << 20;

    private Doctor() {}

    /**
     * Examines this machine.
     *
     * @param removeLeftovers also removes files of dead processes from the fabric folder
     */
    public static List<Finding> examine(boolean removeLeftovers) {
        SystemChecks system = new SystemChecks(new KernelFiles(Path.of("/")));
        List<Finding> all = new ArrayList<>();
        all.add(JavaChecks.jdk(Runtime.version(), System.getProperty("java.home", "unknown")));
        all.add(JavaChecks.nativeAccess(Memfd.class.getModule().isNativeAccessEnabled()));
        all.add(JavaChecks.encoding(System.getProperty("sun.jnu.encoding", "unknown")));
        all.add(system.processors(Runtime.getRuntime().availableProcessors()));
        all.add(SystemChecks.memory(MemoryLimits.freeBytes(), MemoryLimits.cgroupLimitBytes()));
        all.add(SystemChecks.sharedMemory(Doctor::allocateSharedMemory));
        all.add(system.fileSize());
        all.add(system.addressSpace());
        all.add(system.overcommit());
        all.add(system.lockedMemory());
        all.add(system.openFiles());
        all.add(SystemChecks.blockDevices(Uring.refusal()));
        all.add(system.hugePages());
        all.add(system.clock());
        Path temporary = SharedFolder.temporaryFolder();
        all.add(FolderChecks.temporary(temporary));
        try {
            FolderReport fabric = FolderReport.ofEnvironment(removeLeftovers);
            all.add(FolderChecks.fabric(fabric));
            all.add(FolderChecks.leftovers(fabric, removeLeftovers));
            all.add(CardCheck.devices(fabric, removeLeftovers, temporary));
        } catch (FabricException e) {
            all.add(
                    Finding.error(
                            "fabric folder",
                            String.valueOf(e.getMessage()),
                            "set SOFTDPU_FABRIC to an absolute path"));
        }
        all.addAll(RoceChecks.all());
        all.add(FolderChecks.cache(System.getenv().getOrDefault("SOFTDPU_CACHE", "")));
        return all;
    }

    private static void allocateSharedMemory() {
        int fd = Memfd.create("softdpu-doctor");
        try {
            Memfd.allocate(fd, TRIED_BYTES);
        } finally {
            FileDescriptors.close(fd);
        }
    }
}
