package io.softdpu.block.file;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.BlockDevices;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileDescriptors.DirectAlignment;
import io.softdpu.linux.LinuxException;
import org.jspecify.annotations.Nullable;

/**
 * Check that an open file offers what its options want: whole blocks, and direct I/O of that size.
 *
 * @param options of the volume
 * @param blockSizeBytes size of the blocks
 */
record FileCheck(FileOptions options, int blockSizeBytes) {
    /**
     * Checks a file.
     *
     * @param fd the file, open for reading, and for writing unless the options say otherwise
     * @param sizeBytes its size
     * @return alignment of memory for its I/O, in bytes
     * @throws DpuException INVALID_VALUE or NOT_SUPPORTED, naming the file
     * @throws LinuxException if it cannot be opened once more
     */
    int requireUsable(int fd, long sizeBytes) {
        int alignmentBytes = requireAlignment(fd);
        requireBlocks(sizeBytes);
        return alignmentBytes;
    }

    private int requireAlignment(int fd) {
        boolean blockDevice = FileDescriptors.status(fd).isBlockDevice();
        if (!options.direct()) {
            requireBlockSize(blockDevice ? BlockDevices.blockBytes(fd) : 1);
            return 1;
        }
        DirectAlignment alignment = directAlignment(fd, blockDevice);
        requireBlockSize(alignment.offsetBytes());
        return alignment.memoryBytes();
    }

    private void requireBlockSize(int alignmentBytes) {
        if (blockSizeBytes % alignmentBytes != 0) {
            throw FileFailures.refused(
                    Status.INVALID_VALUE,
                    options.file(),
                    "blocks are smaller than the alignment of its I/O, blockSizeBytes="
                            + blockSizeBytes
                            + ", alignmentBytes="
                            + alignmentBytes,
                    "blocks of " + alignmentBytes + " bytes or more",
                    null);
        }
    }

    private DirectAlignment directAlignment(int fd, boolean blockDevice) {
        int directFd;
        try {
            directFd = FileDescriptors.reopen(fd, options.accessFlags());
        } catch (LinuxException e) {
            if (e.errno() == Errno.EINVAL) {
                throw notDirect(e);
            }
            throw e;
        }
        try {
            return VolumeAbilities.directAlignment(directFd, blockDevice)
                    .orElseThrow(() -> notDirect(null));
        } finally {
            FileDescriptors.close(directFd);
        }
    }

    private DpuException notDirect(@Nullable LinuxException cause) {
        return FileFailures.refused(
                Status.NOT_SUPPORTED,
                options.file(),
                "its file system has no direct I/O",
                "one that has, or no option direct",
                cause);
    }

    private void requireBlocks(long sizeBytes) {
        if (sizeBytes == 0 || sizeBytes % blockSizeBytes != 0) {
            throw FileFailures.refused(
                    Status.INVALID_VALUE,
                    options.file(),
                    "its size is no positive multiple of the block size, sizeBytes=" + sizeBytes,
                    "a multiple of " + blockSizeBytes,
                    null);
        }
    }
}
