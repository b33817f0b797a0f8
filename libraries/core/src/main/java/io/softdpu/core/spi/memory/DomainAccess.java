package io.softdpu.core.spi.memory;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Access of one network adapter to a {@link ProtectionDomain}, for queue pairs of that domain's
 * device.
 */
public final class DomainAccess implements AutoCloseable {
    private final ProtectionDomain domain;
    private final AccessBatches batches;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final AtomicBoolean serving = new AtomicBoolean();

    DomainAccess(ProtectionDomain domain, AccessBatches batches) {
        this.domain = domain;
        this.batches = batches;
    }

    /**
     * Finds the memory of a key, and checks an access to it; by the thread that executes the
     * adapter's batch, without allocation. To be called for each packet: memory that was found may
     * be used until the end of the batch.
     *
     * @param key from the packet: any number
     * @param address of the first byte, as peers name it: any number
     * @param lengthBytes any number
     * @param right the bit of {@code AccessFlag} RDMA_READ, RDMA_WRITE or RDMA_ATOMIC
     * @return null if there is no such memory, if the range is empty or not inside, if the right is
     *     not granted, if the memory was withdrawn, or after {@link #close}
     * @throws IllegalStateException outside a batch
     */
    public @Nullable GrantedMemory find(int key, long address, long lengthBytes, int right) {
        if (!batches.isUnderWay()) {
            throw new IllegalStateException("memory is looked for outside a batch: " + this);
        }
        MemoryKey found = domain.find(key);
        return found != null && found.grants(address, lengthBytes, right) && !closed.get()
                ? found
                : null;
    }

    /**
     * Has all memory of the domain mapped in this process, also what is registered later: memory
     * that was imported to be passed on is not before. To be called before a peer may access it, by
     * one thread at a time; waits for the mapping, and does nothing the next time. Memory that
     * cannot be mapped is logged, and each access to it is refused.
     */
    public void serve() {
        if (serving.compareAndSet(false, true)) {
            domain.serve();
        }
    }

    /**
     * Ends the access, when no queue pair uses it any more; waits for the batch under way.
     * Idempotent; any thread.
     *
     * @throws IllegalStateException inside a batch of the calling thread
     */
    @Override
    public void close() {
        batches.awaitEnd();
        if (closed.compareAndSet(false, true)) {
            domain.detach(batches);
            if (serving.get()) {
                domain.endService();
            }
        }
    }

    /** The domain and the adapter, for messages. */
    @Override
    public String toString() {
        return domain + ", " + batches;
    }
}
