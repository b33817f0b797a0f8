package io.softdpu.storage.workload;

import io.softdpu.storage.option.OptionChecks;

/**
 * Size of the operations of a phase, in bytes or in blocks, resolved when the block size of the
 * storage is known.
 */
public final class IoSize {
    private final int amount;
    private final boolean inBlocks;

    private IoSize(int amount, boolean inBlocks) {
        this.amount = amount;
        this.inBlocks = inBlocks;
    }

    /** Size in bytes, rounded up to whole blocks. */
    public static IoSize bytes(int bytes) {
        OptionChecks.requireRange("ioSizeBytes", bytes, 1, 1 << 30);
        return new IoSize(bytes, false);
    }

    /** Size in blocks. */
    public static IoSize blocks(int blocks) {
        OptionChecks.requireRange("blocksPerIo", blocks, 1, 1 << 20);
        return new IoSize(blocks, true);
    }

    /**
     * Resolves the size for a storage, in bytes: whole blocks, at most 1 GiB, at most the limit.
     *
     * @param blockSizeBytes of the storage, positive
     * @param limitBytes upper bound, such as a worker's part of the storage
     */
    public int resolve(int blockSizeBytes, long limitBytes) {
        long bytes =
                inBlocks
                        ? (long) amount * blockSizeBytes
                        : (amount + blockSizeBytes - 1L) / blockSizeBytes * blockSizeBytes;
        return (int) Math.min(Math.min(bytes, 1 << 30), limitBytes);
    }

    @Override
    public String toString() {
        return amount + (inBlocks ? " blocks" : " bytes");
    }
}
