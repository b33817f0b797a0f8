package io.softdpu.storage;

/** Default values and limits of the storage programs. */
public final class StorageDefaults {
    /** The name of the service's Comch server. */
    public static final String COMMAND_CHANNEL_NAME = "doca_storage_comch";

    /** How long each control operation may take: 5 s. */
    public static final long CONTROL_TIMEOUT_NANOS = 5_000_000_000L;

    /** The longest control timeout: a day. */
    public static final long MAX_CONTROL_TIMEOUT_NANOS = 24 * 3600 * 1_000_000_000L;

    /** Transactions that each core of the initiator keeps in flight at most. */
    public static final int TRANSACTION_COUNT = 64;

    /** Operations of each core in a throughput test. */
    public static final long RUN_LIMIT_OPERATION_COUNT = 1_000_000;

    /** Blocks that one operation moves. */
    public static final int BLOCKS_PER_IO = 1;

    /** Bytes of a block. */
    public static final int BLOCK_SIZE_BYTES = 4096;

    /**
     * Where the target listens: this machine alone. Control messages carry keys in the clear and
     * their sender is not asked who he is, so no other machine gets in unless somebody says so.
     */
    public static final String LISTEN_ADDRESS = "127.0.0.1";

    /** The most data path threads that a role has or lets a peer ask for. */
    public static final int MAX_CORES = 64;

    /**
     * The most transactions a core that a peer may ask for (the service doubles the initiator's).
     */
    public static final int MAX_TRANSACTION_COUNT = 4096;

    /**
     * What a peer may take for a byte of the storage between two requests: an initiator allocates
     * memory as large as the storage, fills it, and compares it. Five to ten times what that takes
     * on a machine that has nothing else to do.
     */
    public static final long SILENCE_NANOS_PER_BYTE = 20;

    /** What a large storage adds to that at most: a day. */
    private static final long MOST_FOR_STORAGE_NANOS = 86_400_000_000_000L;

    /**
     * How long a peer may be silent in a session before it counts as lost.
     *
     * @param timeouts in control timeouts, whatever the size of the storage
     * @param storageSizeBytes the storage that the session is about; 0 before it is known
     */
    public static long silenceNanos(int timeouts, long controlTimeoutNanos, long storageSizeBytes) {
        // The size is what a peer says: it must not be able to ask for patience without an end.
        long bytes = Math.min(storageSizeBytes, MOST_FOR_STORAGE_NANOS / SILENCE_NANOS_PER_BYTE);
        return timeouts * controlTimeoutNanos + bytes * SILENCE_NANOS_PER_BYTE;
    }

    private StorageDefaults() {}
}
