package io.softdpu.linux.file;

/**
 * Condition that a file must meet to be read or written. They differ in who may own the file,
 * whether its name may be a link, how long it may be, and whether it may be a block device; other
 * types than that and regular files are allowed by none.
 */
public enum FilePolicy {
    /**
     * A file of a private folder that processes of one user share, such as the fabric folder: not
     * through a symbolic link, owned by the effective uid, at most {@link #MAX_TEXT_BYTES}.
     */
    SHARED_FOLDER(false, true, FilePolicy.MAX_TEXT_BYTES),

    /**
     * A text that the user names, such as a topology: a link and any owner are allowed, at most
     * {@link #MAX_TEXT_BYTES}.
     */
    USER_TEXT(true, false, FilePolicy.MAX_TEXT_BYTES),

    /**
     * Data that the user names, such as a file to send: a link, any owner and any size are allowed.
     */
    USER_DATA(true, false, Long.MAX_VALUE),

    /**
     * A file of the user that may be replaced or removed ({@link OutputFile}): not through a
     * symbolic link; any owner and any size are allowed.
     */
    USER_OUTPUT(false, false, Long.MAX_VALUE),

    /**
     * Blocks that the user names, which stay open and are written in place: a regular file or a
     * block device; a link, any owner and any size are allowed.
     */
    USER_VOLUME(true, false, Long.MAX_VALUE, true);

    /** Longest text in bytes, 4 MiB. */
    public static final int MAX_TEXT_BYTES = 4 << 20;

    private final boolean followsLinks;
    private final boolean ownFileOnly;
    private final long maxBytes;
    private final boolean blockDevices;

    FilePolicy(boolean followsLinks, boolean ownFileOnly, long maxBytes) {
        this(followsLinks, ownFileOnly, maxBytes, false);
    }

    FilePolicy(boolean followsLinks, boolean ownFileOnly, long maxBytes, boolean blockDevices) {
        this.followsLinks = followsLinks;
        this.ownFileOnly = ownFileOnly;
        this.maxBytes = maxBytes;
        this.blockDevices = blockDevices;
    }

    /** Whether it may be a block device. */
    boolean allowsBlockDevices() {
        return blockDevices;
    }

    /** The types that are allowed, for messages. */
    String types() {
        return blockDevices ? "a regular file or a block device" : "a regular file";
    }

    /** Whether the name may be a symbolic link. */
    boolean followsLinks() {
        return followsLinks;
    }

    /** Whether files of other users are refused. */
    boolean ownFileOnly() {
        return ownFileOnly;
    }

    /**
     * The largest size that is allowed.
     *
     * @return bytes; {@link Long#MAX_VALUE} where there is no limit
     */
    public long maxBytes() {
        return maxBytes;
    }
}
