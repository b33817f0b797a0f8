package io.softdpu.linux;

/**
 * Status of an open file, from statx.
 *
 * @param mode file type and permission bits, as in {@code st_mode}
 * @param sizeBytes the file's length
 * @param allocatedBytes allocated size; less than its length if it has holes
 * @param uid the file's owner
 * @param device the device it is on: major number in the high, minor number in the low 32 bits
 * @param inode its number on that device; device and inode together identify a file
 */
public record FileStatus(
        int mode, long sizeBytes, long allocatedBytes, int uid, long device, long inode) {
    private static final int TYPE_MASK = 0xf000;
    private static final int TYPE_DIRECTORY = 0x4000;
    private static final int TYPE_REGULAR = 0x8000;
    private static final int TYPE_NAMED_PIPE = 0x1000;
    private static final int TYPE_CHARACTER_DEVICE = 0x2000;
    private static final int TYPE_BLOCK_DEVICE = 0x6000;
    private static final int TYPE_SYMBOLIC_LINK = 0xa000;
    private static final int TYPE_SOCKET = 0xc000;

    /**
     * Whether it is a regular file (a memfd is one), not a socket, pipe, directory or device.
     *
     * @return whether it is a regular file
     */
    public boolean isRegularFile() {
        return (mode & TYPE_MASK) == TYPE_REGULAR;
    }

    /**
     * Whether it is a block device.
     *
     * @return whether it is a block device
     */
    public boolean isBlockDevice() {
        return (mode & TYPE_MASK) == TYPE_BLOCK_DEVICE;
    }

    /**
     * Names the type, for messages.
     *
     * @return such as {@code regular file} or {@code pipe}
     */
    public String typeName() {
        return switch (mode & TYPE_MASK) {
            case TYPE_REGULAR -> "regular file";
            case TYPE_DIRECTORY -> "directory";
            case TYPE_NAMED_PIPE -> "pipe";
            case TYPE_CHARACTER_DEVICE -> "character device";
            case TYPE_BLOCK_DEVICE -> "block device";
            case TYPE_SYMBOLIC_LINK -> "symbolic link";
            case TYPE_SOCKET -> "socket";
            default -> "file of no known type";
        };
    }

    /**
     * Whether it is a socket in the file system.
     *
     * @return whether it is a socket
     */
    public boolean isSocket() {
        return (mode & TYPE_MASK) == TYPE_SOCKET;
    }

    /**
     * The permission bits alone, such as 0700 of a private directory.
     *
     * @return the low twelve bits of the mode
     */
    public int permissions() {
        return mode & 0xfff;
    }

    /**
     * Compares identities: the same file, however it was opened.
     *
     * @param other another file's status
     * @return whether device and inode are equal
     */
    public boolean isSameFile(FileStatus other) {
        return device == other.device && inode == other.inode;
    }
}
