package io.softdpu.core.spi.memory;

import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Key of memory in a {@link ProtectionDomain}, from its registration to its withdrawal. Immutable,
 * but for memory that is mapped once adapters serve it; any thread.
 */
public final class MemoryKey implements GrantedMemory {
    private final ProtectionDomain domain;
    private final int key;
    private final long address;

    /** Empty until it is mapped; written once. */
    private volatile MemorySegment memory;

    private final int rights;
    private final Grant grant;
    private final Runnable changed;
    private final @Nullable Supplier<@Nullable MemorySegment> mapping;

    MemoryKey(
            ProtectionDomain domain,
            int key,
            long address,
            MemorySegment memory,
            int rights,
            Grant grant,
            Runnable changed,
            @Nullable Supplier<@Nullable MemorySegment> mapping) {
        this.domain = domain;
        this.key = key;
        this.address = address;
        this.memory = memory;
        this.rights = rights;
        this.grant = grant;
        this.changed = changed;
        this.mapping = mapping;
    }

    /** The key: not 0. */
    public int key() {
        return key;
    }

    /** Maps memory that is not mapped yet; waits for it. */
    synchronized void map() {
        if (mapping != null && memory.byteSize() == 0) {
            MemorySegment mapped = mapping.get();
            if (mapped != null) { // else its mmap closes meanwhile
                memory = mapped;
            }
        }
    }

    /**
     * Whether an access is granted.
     *
     * @param from any number
     * @param lengthBytes any number
     * @param right one or more bits
     */
    boolean grants(long from, long lengthBytes, int right) {
        long sizeBytes = memory.byteSize();
        // The offset as an unsigned number: a place in front of the memory is far behind it.
        return lengthBytes > 0
                && lengthBytes <= sizeBytes
                && Long.compareUnsigned(from - address, sizeBytes - lengthBytes) <= 0
                && (rights & right) == right
                && right != 0
                && grant.holds();
    }

    /**
     * Withdraws the memory: it is not found any more, and this waits for batches that may have
     * found it. Afterwards no packet changes a byte of it. Idempotent.
     *
     * @throws IllegalStateException inside a batch of the calling thread
     */
    public void withdraw() {
        domain.remove(this);
        domain.awaitBatches();
    }

    /**
     * Withdraws several: first none of them is found any more, then each leaves the collection when
     * no batch uses it. After an exception the rest can be withdrawn again.
     *
     * @throws IllegalStateException as {@link #withdraw}
     */
    public static void withdrawAll(Collection<MemoryKey> keys) {
        keys.forEach(key -> key.domain.remove(key));
        boolean _ =
                keys.removeIf(key -> {
                    key.domain.awaitBatches();
                    return true;
                });
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public void changed() {
        changed.run();
    }

    /** The domain and the size; without the key, by which peers get access. */
    @Override
    public String toString() {
        return "sizeBytes=" + memory.byteSize() + ", " + domain;
    }
}
