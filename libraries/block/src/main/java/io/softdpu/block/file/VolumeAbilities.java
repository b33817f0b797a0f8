package io.softdpu.block.file;

import io.softdpu.linux.BlockDevices;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileBlocks;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileDescriptors.DirectAlignment;
import io.softdpu.linux.FileIo;
import io.softdpu.linux.LinuxException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Operations that a file system has for a file, found by trying them where they change no block.
 * Whether it makes zeros is found when they are wanted: a try beyond the end would allocate blocks
 * there.
 *
 * @param punchesHoles whether blocks can be given back
 * @param findsHoles whether it tells where there is data
 */
record VolumeAbilities(boolean punchesHoles, boolean findsHoles) {
    private static final int MAX_ALIGNMENT_BYTES = 4096;

    /**
     * Tries the operations.
     *
     * @param fd the open file
     * @param blockDevice whether it is a block device: that has no place beyond its end to try at
     */
    static VolumeAbilities of(int fd, boolean blockDevice, boolean writable, long sizeBytes) {
        return new VolumeAbilities(
                writable && !blockDevice && punchesHoles(fd, sizeBytes), findsHoles(fd));
    }

    /** Beyond the end, where there is no block to give back. */
    private static boolean punchesHoles(int fd, long sizeBytes) {
        long beyond = (sizeBytes | (MAX_ALIGNMENT_BYTES - 1)) + 1;
        try {
            FileBlocks.allocate(
                    fd, FileBlocks.PUNCH_HOLE | FileBlocks.KEEP_SIZE, beyond, MAX_ALIGNMENT_BYTES);
            return true;
        } catch (LinuxException e) {
            return switch (e.errno()) { // these are of one that it has
                case Errno.ENOSPC, Errno.EDQUOT, Errno.EFBIG -> true;
                default -> false;
            };
        }
    }

    private static boolean findsHoles(int fd) {
        try {
            long _ = FileBlocks.nextHole(fd, 0);
            return true;
        } catch (LinuxException e) {
            return false; // EINVAL, as of block devices
        }
    }

    /**
     * Alignment of direct I/O.
     *
     * @param directFd the file, open with O_DIRECT
     * @return empty if the file system ignores that
     */
    static Optional<DirectAlignment> directAlignment(int directFd, boolean blockDevice) {
        Optional<DirectAlignment> told = FileDescriptors.directAlignment(directFd);
        if (told.isPresent()) {
            return told.filter(DirectAlignment::isOffered);
        }
        if (blockDevice) {
            int bytes = BlockDevices.blockBytes(directFd);
            return Optional.of(new DirectAlignment(bytes, bytes));
        }
        return triedAlignment(directFd);
    }

    /** The alignment with which a read succeeds, for a kernel that does not tell. */
    private static Optional<DirectAlignment> triedAlignment(int directFd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(2L * MAX_ALIGNMENT_BYTES, MAX_ALIGNMENT_BYTES);
            if (reads(directFd, memory.asSlice(1, 1))) {
                return Optional.empty(); // no direct I/O reads a single byte
            }
            for (int bytes = 512; bytes <= MAX_ALIGNMENT_BYTES; bytes *= 2) {
                if (reads(directFd, memory.asSlice(bytes, bytes))) {
                    return Optional.of(new DirectAlignment(bytes, bytes));
                }
            }
        }
        return Optional.empty();
    }

    private static boolean reads(int directFd, MemorySegment into) {
        try {
            long _ = FileIo.read(directFd, into, 0);
            return true;
        } catch (LinuxException e) {
            if (e.errno() == Errno.EINVAL) {
                return false;
            }
            throw e;
        }
    }
}
