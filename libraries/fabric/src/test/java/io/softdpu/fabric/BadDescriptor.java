package io.softdpu.fabric;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.linux.EventFd;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.Memfd;
import io.softdpu.linux.MemoryMapping;
import io.softdpu.linux.UnixSocket;
import io.softdpu.testkit.NamedPipe;
import io.softdpu.testkit.SystemCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Kinds of descriptors that a peer may send in place of sealed memory, with the reason of their
 * refusal.
 */
enum BadDescriptor {
    UNSEALED(0),
    SEALED_BUT_FOR_SHRINK_AND_GROW(Memfd.SEAL_SEAL),
    SEALED_AGAINST_SHRINKING_ONLY(Memfd.SEAL_SHRINK),
    SEALED_AGAINST_GROWING_ONLY(Memfd.SEAL_GROW),
    SEALED_BUT_FOR_SHRINK(Memfd.SEAL_GROW | Memfd.SEAL_SEAL),
    SEALED_BUT_FOR_GROW(Memfd.SEAL_SHRINK | Memfd.SEAL_SEAL),
    SEALED_BUT_FOR_SEAL(Memfd.SEAL_SHRINK | Memfd.SEAL_GROW),
    SEALED_AGAINST_WRITING_ONLY(Memfd.SEAL_FUTURE_WRITE | Memfd.SEAL_SEAL),

    EMPTY("size differs: sizeBytes=0") {
        @Override
        int open(long sizeBytes, Path folder) {
            return sealed(Memfd.create("empty"), 0);
        }
    },

    ONE_PAGE_TOO_SHORT("size differs: sizeBytes=") {
        @Override
        int open(long sizeBytes, Path folder) {
            return sealed(Memfd.create("short"), sizeBytes - MemoryMapping.pageSize());
        }
    },

    ONE_PAGE_TOO_LONG("size differs: sizeBytes=") {
        @Override
        int open(long sizeBytes, Path folder) {
            return sealed(Memfd.create("long"), sizeBytes + MemoryMapping.pageSize());
        }
    },

    ALL_HOLES("not allocated: allocatedBytes=0") {
        @Override
        int open(long sizeBytes, Path folder) {
            return sealed(Memfd.create("holes"), sizeBytes);
        }
    },

    /** As many blocks as a full one, and holes all the same: a count alone would not tell. */
    BLOCKS_BEYOND_ITS_END("allocated beyond its end: allocatedBytes=") {
        @Override
        int open(long sizeBytes, Path folder) {
            int descriptor = Memfd.create("beyond");
            Memfd.allocate(descriptor, sizeBytes);
            assumeTrue(
                    RawSocket.allocateBeyondTheEnd(descriptor, sizeBytes, 4 << 20) == 0,
                    "this kernel allocates beyond the end of a memfd");
            Memfd.addSeals(descriptor, ALL_SEALS);
            return descriptor;
        }
    },

    ONE_HOLE("not allocated: allocatedBytes=") {
        @Override
        int open(long sizeBytes, Path folder) {
            int descriptor = good(sizeBytes);
            SystemCalls.punchHole(descriptor, 0, MemoryMapping.pageSize());
            return descriptor;
        }
    },

    ONE_BYTE_TOO_SHORT("size differs: sizeBytes=") {
        @Override
        int open(long sizeBytes, Path folder) {
            return sealed(Memfd.create("byte short"), sizeBytes - 1);
        }
    },

    ONE_BYTE_TOO_LONG("size differs: sizeBytes=") {
        @Override
        int open(long sizeBytes, Path folder) {
            return sealed(Memfd.create("byte long"), sizeBytes + 1);
        }
    },

    HUGE_PAGES_SEALED_AND_OF_THE_RIGHT_SIZE("not on tmpfs: fileSystem=0x958458f6") {
        @Override
        int open(long sizeBytes, Path folder) {
            int descriptor;
            try {
                descriptor = SystemCalls.createHugetlb("huge");
            } catch (LinuxException e) {
                assumeTrue(false, "this kernel has no huge pages: " + e.getMessage());
                throw e;
            }
            long hugePageBytes = 2 << 20;
            return sealed(descriptor, Math.max(sizeBytes, hugePageBytes));
        }
    },

    FILE_ON_DISK("not memory: ") {
        @Override
        int open(long sizeBytes, Path folder) throws IOException {
            int descriptor = file(folder.resolve("disk"), sizeBytes);
            if (FileDescriptors.fileSystemType(descriptor) == FileDescriptors.TMPFS_MAGIC) {
                FileDescriptors.close(descriptor);
                assumeTrue(false, "no disk: the folder of this test is on tmpfs, path=" + folder);
            }
            return descriptor;
        }
    },

    FILE_ON_TMPFS("not sealed: seals=0x1,") {
        @Override
        int open(long sizeBytes, Path folder) throws IOException {
            Path path = Files.createTempFile(Path.of("/dev/shm"), "softdpu-test", null);
            try {
                return file(path, sizeBytes);
            } finally {
                Files.delete(path);
            }
        }
    },

    PIPE("not memory: ") {
        @Override
        int open(long sizeBytes, Path folder) throws IOException {
            Path path = folder.resolve("pipe");
            NamedPipe.create(path); // goes with the folder
            return FileDescriptors.open(path.toString(), FileDescriptors.O_RDWR, 0);
        }
    },

    SOCKET("not memory: ") {
        @Override
        int open(long sizeBytes, Path folder) {
            return UnixSocket.create();
        }
    },

    DIRECTORY("not memory: ") {
        @Override
        int open(long sizeBytes, Path folder) {
            return FileDescriptors.open(folder.toString(), FileDescriptors.O_DIRECTORY, 0);
        }
    },

    DIRECTORY_ON_TMPFS("not memory: ") {
        @Override
        int open(long sizeBytes, Path folder) {
            return FileDescriptors.open("/dev/shm", FileDescriptors.O_DIRECTORY, 0);
        }
    },

    /** It can be mapped, and the folder of devices is a tmpfs. */
    DEVICE("not memory: ") {
        @Override
        int open(long sizeBytes, Path folder) {
            return FileDescriptors.open("/dev/zero", FileDescriptors.O_RDWR, 0);
        }
    },

    EVENT("not memory: ") {
        @Override
        int open(long sizeBytes, Path folder) {
            return EventFd.create();
        }
    },

    PLACE_WITHOUT_FILE("cannot be examined, fcntl(F_GET_SEALS) failed: errno=9 (EBADF)") {
        @Override
        int open(long sizeBytes, Path folder) throws IOException {
            Path path = Files.createFile(folder.resolve("place"));
            return FileDescriptors.open(path.toString(), FileDescriptors.O_PATH, 0);
        }
    };

    private static final int ALL_SEALS = Memfd.SEAL_SHRINK | Memfd.SEAL_GROW | Memfd.SEAL_SEAL;

    private final String reason;
    private final int seals;

    BadDescriptor(String reason) {
        this.reason = reason;
        this.seals = 0;
    }

    BadDescriptor(int seals) {
        this.reason = "not sealed: seals=0x";
        this.seals = seals;
    }

    /** The reason in the refusal, after {@code descriptor refused: }. */
    String reason() {
        return reason;
    }

    /** Opens one, for a declared size in whole pages; the caller closes it. */
    int open(long sizeBytes, Path folder) throws IOException {
        int descriptor = Memfd.create("partly sealed");
        Memfd.allocate(descriptor, sizeBytes);
        if (seals != 0) {
            Memfd.addSeals(descriptor, seals);
        }
        return descriptor;
    }

    /** Memory as an honest peer would send it. */
    static int good(long sizeBytes) {
        int descriptor = Memfd.create("good");
        Memfd.allocate(descriptor, sizeBytes);
        Memfd.addSeals(descriptor, ALL_SEALS);
        return descriptor;
    }

    private static int sealed(int descriptor, long sizeBytes) {
        FileDescriptors.truncate(descriptor, sizeBytes);
        Memfd.addSeals(descriptor, ALL_SEALS);
        return descriptor;
    }

    private static int file(Path path, long sizeBytes) {
        int descriptor =
                FileDescriptors.open(
                        path.toString(), FileDescriptors.O_RDWR | FileDescriptors.O_CREAT, 0600);
        FileDescriptors.truncate(descriptor, sizeBytes);
        return descriptor;
    }
}
