package io.softdpu.block.file;

import io.softdpu.core.DpuException;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileBlocks;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileIo;
import io.softdpu.linux.LinuxException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Objects;
import java.util.UUID;

/**
 * Creation of a file that is missing. It appears under its name when it was checked and all its
 * blocks are allocated and durable; until then it has a name of its own beside it, {@code
 * .softdpu.ID.new}, which a process that is killed leaves behind. A file that exists is not
 * changed.
 */
final class FileCreation {
    private static final int OWNER_READ_WRITE = 0600;
    private static final long ZEROS_BYTES = 1 << 20;

    private FileCreation() {}

    /**
     * Creates the file unless there is one of that name.
     *
     * @param check of the file, before it appears
     * @throws DpuException FULL, NOT_PERMITTED, NOT_FOUND or IO_FAILED, or as the check, naming the
     *     file; then none was created
     */
    static void createIfMissing(Path file, long sizeBytes, FileCheck check) {
        if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Path unfinished = file.resolveSibling(".softdpu." + UUID.randomUUID() + ".new");
        try {
            write(unfinished, sizeBytes, check);
            try {
                Files.createLink(file, unfinished);
            } catch (FileAlreadyExistsException e) {
                // another process was faster, and the file is its
            } finally {
                Files.delete(unfinished);
            }
            syncFolder(
                    Objects.requireNonNull(
                            file.toAbsolutePath().getParent(), "a folder of what is no root"));
        } catch (LinuxException e) {
            throw FileFailures.of(file, "creation", e);
        } catch (IOException e) {
            throw FileFailures.of(file, e);
        }
    }

    private static void write(Path unfinished, long sizeBytes, FileCheck check) throws IOException {
        int fd =
                FileDescriptors.open(
                        unfinished.toString(),
                        FileDescriptors.O_RDWR | FileDescriptors.O_CREAT | FileDescriptors.O_EXCL,
                        OWNER_READ_WRITE);
        boolean written = false;
        try {
            allocate(fd, sizeBytes);
            int _ = check.requireUsable(fd, sizeBytes);
            FileIo.sync(fd);
            written = true;
        } finally {
            FileDescriptors.close(fd);
            if (!written) {
                Files.delete(unfinished);
            }
        }
    }

    /** Allocates all blocks; writes zeros where the file system cannot allocate without. */
    private static void allocate(int fd, long sizeBytes) {
        try {
            FileBlocks.allocate(fd, 0, 0, sizeBytes);
        } catch (LinuxException e) {
            if (e.errno() != Errno.EOPNOTSUPP) {
                throw e;
            }
            writeZeros(fd, sizeBytes);
        }
    }

    private static void writeZeros(int fd, long sizeBytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment zeros = arena.allocate(Math.min(ZEROS_BYTES, sizeBytes));
            long done = 0;
            while (done < sizeBytes) {
                long piece = Math.min(zeros.byteSize(), sizeBytes - done);
                done += FileIo.write(fd, zeros.asSlice(0, piece), done);
            }
        }
    }

    private static void syncFolder(Path folder) {
        int fd =
                FileDescriptors.open(
                        folder.toString(),
                        FileDescriptors.O_RDONLY | FileDescriptors.O_DIRECTORY,
                        0);
        try {
            FileIo.sync(fd);
        } finally {
            FileDescriptors.close(fd);
        }
    }
}
