package io.softdpu.fabric.memory;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileStatus;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.Memfd;
import io.softdpu.linux.MemoryMapping;

/**
 * Decides, before anything is mapped, whether a descriptor that came from a peer can hurt this
 * process.
 *
 * <p>Each check stops something that was tried: a descriptor that can still shrink ends the process
 * with SIGBUS; so does a sealed hugetlb memfd of the right size, hence the file system. Pipes,
 * sockets, directories, devices and files on disk have no seals at all, so that having them tells
 * memory from everything else.
 */
public final class DescriptorCheck {
    private static final int NEEDED_SEALS = Memfd.SEAL_SHRINK | Memfd.SEAL_GROW | Memfd.SEAL_SEAL;

    /** Allocated as a whole, also where a file ends within: what a page of page numbers maps. */
    private static final long LARGE_PAGE_BYTES =
            MemoryMapping.pageSize() / Long.BYTES * MemoryMapping.pageSize();

    private DescriptorCheck() {}

    /**
     * Throws MALFORMED, naming what was found and what was expected, unless the descriptor is safe.
     *
     * <p>The seals come first, since only they make the other answers stay true: a length that was
     * asked for before could have been changed, and then sealed, in between. They are also the only
     * question that no peer can keep waiting for its answer, as it could where a descriptor lies on
     * a file system that it serves itself.
     *
     * @return bytes that the file has allocated: fewer at a later look mean that some were taken
     *     away
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
            // A length costs the peer nothing. Mapping and touching a file of holes would take the
            // memory here and now: 64 GiB were enough to be killed for.
            if (status.allocatedBytes() < expected) {
                throw malformed(
                        "not allocated: allocatedBytes="
                                + status.allocatedBytes()
                                + ", expected="
                                + expected);
            }
            // Blocks beyond the end would hide as many holes before it from those who count blocks
            // later. The seals forbid to add any; a last large page may reach that far.
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

    /** Only memory has seals; everything else answers EINVAL. */
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
