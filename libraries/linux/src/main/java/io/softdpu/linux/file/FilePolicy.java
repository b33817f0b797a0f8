package io.softdpu.linux.file;

/**
 * Condition that a file must meet to be read or written. Each allows regular files only; they
 * differ in who may own the file, whether its name may be a link, and how long it may be.
 */
public enum FilePolicy {
    /**
     * A file of a private folder that processes of one user share, such as the fabric folder: not
     * through a symbolic link, owned by the effective uid, at most {@link #MAX_TEXT_BYTES}.
     */
    SHARED_FOLDER(true, FilePolicy.MAX_TEXT_BYTES),

    /**
     * A text that the user names, such as a topology: a link and any owner are allowed, at most
     * {@link #MAX_TEXT_BYTES}.
     */
    USER_TEXT(false, FilePolicy.MAX_TEXT_BYTES),

    /** Data that the user names, such as a volume: a link, any owner and any size are allowed. */
    USER_DATA(false, Long.MAX_VALUE);

    /** Longest text in bytes, 4 MiB. */
    public static final int MAX_TEXT_BYTES = 4 << 20;

    private final boolean ownFileOnly;
    private final long maxBytes;

    FilePolicy(boolean ownFileOnly, long maxBytes) {
        this.ownFileOnly = ownFileOnly;
        this.maxBytes = maxBytes;
    }

    /** Whether links and files of other users are refused. */
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
