package io.softdpu.block.spi;

import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.spi.ContextServices;
import org.jspecify.annotations.Nullable;

/**
 * Open block device of a provider. Any thread.
 *
 * <p>A completed write is seen by every read that is submitted later, to whichever channel. A flush
 * covers each write that had completed in any channel before it was submitted. Requests in flight
 * that overlap have no order.
 *
 * <p>If the device learns that acknowledged data was lost, no flush and no FUA request that is in
 * flight then may succeed, in any channel. The library ends all later ones with IO_FAILED, once one
 * has completed so. A loss that the system tells to one channel alone is learned of when that
 * channel makes progress.
 */
public interface ProviderDevice extends AutoCloseable {
    /** Its properties; always the same. */
    BlockProperties properties();

    /** The present identity. */
    BlockIdentity identity();

    /**
     * Takes another identity, since a flush has failed; called before the task that has learned of
     * it completes, on the thread of its engine. A failure to record it is the provider's to log.
     */
    void renewIdentity();

    /**
     * Whether acknowledged data may be lost; asked when a request with FUA has ended with
     * IO_FAILED, on the thread of its engine. If so, that is a failed flush; else it is a write
     * that has failed, and no loss. By default it may, as of a device that cannot tell one from the
     * other.
     */
    default boolean mayHaveLost() {
        return true;
    }

    /**
     * The blocks, where they are memory of this process: byte {@code i} of it is byte {@code i} of
     * the device. Stays the device's; null where they are not.
     */
    default @Nullable LocalMemory memory() {
        return null;
    }

    /** The user of the memory of its requests; always the same. By default the engine's thread. */
    default MemoryUser memoryUser() {
        return MemoryUser.ENGINE;
    }

    /** How its requests are executed, in a word; always the same. By default by the engine. */
    default String method() {
        return "engine";
    }

    /**
     * Whether each write, and each write of zeros, is durable when it completes, as if it had FUA;
     * always the same. By default none is that has not.
     */
    default boolean isWriteThrough() {
        return false;
    }

    /**
     * Opens the channel of a context that starts; on the thread of its engine.
     *
     * @param services of the context's engine
     * @param maxRequests limit of requests in flight
     * @throws io.softdpu.core.DpuException if it cannot: it has released what it had
     */
    ProviderChannel openChannel(ContextServices services, int maxRequests);

    /** Closes the device, which has no channel any more. Called once. */
    @Override
    void close();
}
