package io.softdpu.fabric.memory;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileStatus;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.Memfd;
import io.softdpu.linux.MemoryMapping;

/**
 * Validation of a peer's descriptor before it is mapped: it must be memory that cannot harm this
 * process.
 *
 * <p>Each check stops an attack that was tried: a file that can still shrink ends the process with
 * SIGBUS; so does a sealed hugetlb memfd of the right size, hence the check of the file system.
 * Pipes, sockets, directories, devices and files on disk have no seals, so seals distinguish memory
 * from everything else.
 */
public final class DescriptorCheck {
    private static final int NEEDED_SEALS = Memfd.SEAL_SHRINK | Memfd.SEAL_GROW | Memfd.SEAL_SEAL;

    /**
     * Unit of allocation of a large page, even if the file ends within it: the memory that one page
     * of page table entries maps.
     */
    private static final long LARGE_PAGE_BYTES =
            MemoryMapping.pageSize() / Long.BYTES * MemoryMapping.pageSize();

    private DescriptorCheck() {}

    /**
     * Throws MALFORMED, naming what was found and what was expected, unless the descriptor is safe.
     *
     * <p>The seals are checked first, since only they keep the other properties constant: a length
     * that was read before could be changed and then sealed in between. They are also the only
     * query that a peer cannot block, as it could on a file system that it serves itself.
     *
     * @return allocated bytes of the file: fewer at a later check mean that some were deallocated
     */
    public static long verify(int descriptor, long sizeBytes, long limitBytes) {
        if (sizeBytes < 1 || sizeBytes > limitBytes) {
            throw malformed("size out of range: sizeBytes=" + sizeBytes + ", limit=" + limitBytes);
        }
        try {
            int seals = sealsOf(descriptor);
            if ((seals & NEEDED_SEALS) != NEEDED_SEALS) {
                throw malformed(
                        "not sealed: seals=0x"
                                + Integer.toHexString(seals)
                                + ", expected at least 0x"
                                + Integer.toHexString(NEEDED_SEALS));
            }
            long fileSystem = FileDescriptors.fileSystemType(descriptor);
            if (fileSystem != FileDescriptors.TMPFS_MAGIC) {
                throw malformed(
                        "not on tmpfs: fileSystem=0x"
                                + Long.toHexString(fileSystem)
                                + ", expected=0x"
                                + Long.toHexString(FileDescriptors.TMPFS_MAGIC));
            }
            FileStatus status = FileDescriptors.status(descriptor);
            long expected = SharedSegment.roundUpToPage(sizeBytes);
            if (status.sizeBytes() != expected) {
                throw malformed(
                        "size differs: sizeBytes=" + status.sizeBytes() + ", expected=" + expected);
            }
            // A length costs the peer nothing. Mapping and touching a file of holes would allocate
            // the memory on behalf of this process: with 64 GiB it was killed.
            if (status.allocatedBytes() < expected) {
                throw malformed(
                        "not allocated: allocatedBytes="
                                + status.allocatedBytes()
                                + ", expected="
                                + expected);
            }
            // Blocks beyond the end would hide as many holes before it from later counts of blocks.
            // The seals forbid to add any; a last large page may reach that far.
            if (status.allocatedBytes() - expected >= LARGE_PAGE_BYTES) {
                throw malformed(
                        "allocated beyond its end: allocatedBytes="
                                + status.allocatedBytes()
                                + ", expected="
                                + expected);
            }
            return status.allocatedBytes();
        } catch (LinuxException e) {
            throw new FabricException(
                    FabricException.Kind.MALFORMED,
                    "descriptor refused: cannot be examined, " + e.getMessage(),
                    e);
        }
    }

    /** The seals of a file; EINVAL for everything but memory. */
    private static int sealsOf(int descriptor) {
        try {
            return Memfd.seals(descriptor);
        } catch (LinuxException e) {
            if (e.errno() == Errno.EINVAL) {
                throw malformed("not memory: " + e.getMessage());
            }
            throw e;
        }
    }

    private static FabricException malformed(String what) {
        return new FabricException(FabricException.Kind.MALFORMED, "descriptor refused: " + what);
    }
}
