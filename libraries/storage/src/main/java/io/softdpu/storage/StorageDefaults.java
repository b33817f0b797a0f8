package io.softdpu.storage;

import java.time.Duration;

/** Default values and limits of the storage programs. */
public final class StorageDefaults {
    /** The name of the service's Comch server. */
    public static final String COMMAND_CHANNEL_NAME = "doca_storage_comch";

    /** Timeout of each control operation: 5 s. */
    public static final Duration CONTROL_TIMEOUT = Duration.ofSeconds(5);

    /** The longest control timeout: a day. */
    public static final Duration MAX_CONTROL_TIMEOUT = Duration.ofDays(1);

    /** Largest number of transactions in flight per worker of the initiator. */
    public static final int TRANSACTION_COUNT = 64;

    /** Operations per worker in a throughput test. */
    public static final long RUN_LIMIT_OPERATION_COUNT = 1_000_000;

    /** Blocks per operation. */
    public static final int BLOCKS_PER_IO = 1;

    /** Bytes of a block. */
    public static final int BLOCK_SIZE_BYTES = 4096;

    /** Blocks of a volume. */
    public static final int BLOCK_COUNT = 128;

    /**
     * Address that the target listens on: the loopback interface. Control messages contain keys in
     * clear text and are not authenticated, so other machines can connect only if the user
     * configures another address.
     */
    public static final String LISTEN_ADDRESS = "127.0.0.1";

    /** Memory of each data path thread of a target for volumes that are staged: 16 MiB. */
    public static final long STAGING_BYTES = 16 << 20;

    /** Largest number of data path threads of a role, also if a peer requests them. */
    public static final int MAX_WORKERS = 64;

    /**
     * Largest number of transactions per worker that a peer may request (the service doubles the
     * initiator's).
     */
    public static final int MAX_TRANSACTION_COUNT = 4096;

    /**
     * Inactivity granted to a peer per byte of the storage between two requests: an initiator
     * allocates memory as large as the storage, fills it, and compares it. Five to ten times the
     * duration on an idle machine.
     */
    public static final long INACTIVITY_NANOS_PER_BYTE = 20;

    /** Upper bound of the inactivity granted for the size of the storage: one day. */
    private static final long MAX_STORAGE_INACTIVITY_NANOS = 86_400_000_000_000L;

    /**
     * Inactivity of a peer in a session after which it counts as lost.
     *
     * @param timeouts number of control timeouts that are granted for any size of the storage
     * @param storageSizeBytes the size of the session's storage; 0 before it is known
     */
    public static Duration inactivity(
            int timeouts, Duration controlTimeout, long storageSizeBytes) {
        // The size comes from a peer, which must not be able to disable the timeout.
        long bytes =
                Math.min(
                        storageSizeBytes, MAX_STORAGE_INACTIVITY_NANOS / INACTIVITY_NANOS_PER_BYTE);
        return controlTimeout.multipliedBy(timeouts).plusNanos(bytes * INACTIVITY_NANOS_PER_BYTE);
    }

    private StorageDefaults() {}
}
