package io.softdpu.block.fault;

import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Device with a volatile cache: what is written stays in memory until it is flushed, except for
 * some blocks, in a random order, which are written out at once. What is in the memory alone is
 * lost with the process, and by a close.
 *
 * <p>One request at a time is executed, of one channel after the other, so each sees the blocks as
 * the one before has left them, and no block is changed while it is written out. The cache is
 * memory of the size of the device, and belongs to the channel that has its turn.
 */
final class VolatileDevice implements ProviderDevice {
    private final ProviderDevice wrapped;
    private final BlockProperties properties;
    private final LocalMemory memory;
    private final Dice dice;

    /** Blocks that are in the memory; of these, those that the device below lacks. */
    private final BitSet cached;

    private final BitSet dirty;

    /** Number of the next decision. */
    private long nextNumber;

    private volatile BlockIdentity identity = BlockIdentity.random();

    // Guarded by this: the channel that has its turn, and those that wait for one.
    private @Nullable VolatileChannel current;
    private final Queue<VolatileChannel> waiting = new ArrayDeque<>();

    private VolatileDevice(ProviderDevice wrapped, LocalMemory memory, long seed) {
        this.wrapped = wrapped;
        this.memory = memory;
        dice = new Dice(seed);
        BlockProperties below = wrapped.properties();
        Set<BlockFeature> features = EnumSet.copyOf(below.features());
        features.remove(BlockFeature.EXTENTS); // the device below does not know what is cached
        properties =
                new BlockProperties(
                        below.sizeBytes(),
                        below.blockSizeBytes(),
                        below.preferredRequestBytes(),
                        below.maxRequestBytes(),
                        1,
                        features,
                        below.description());
        int blocks = Math.toIntExact(below.sizeBytes() / below.blockSizeBytes());
        cached = new BitSet(blocks);
        dirty = new BitSet(blocks);
    }

    /**
     * Creates a device over another, which it closes.
     *
     * @throws DpuException NOT_SUPPORTED if that cannot be flushed; TOO_BIG or NO_MEMORY if there
     *     is no memory for its cache
     */
    static VolatileDevice over(ProviderDevice wrapped, long seed) {
        BlockProperties below = wrapped.properties();
        if (!below.has(BlockFeature.FLUSH)) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "volatile cache is not possible: blockDevice=%s, features=%s,"
                                    + " expected=FLUSH",
                            below.description(), below.features()));
        }
        long blocks = below.sizeBytes() / below.blockSizeBytes();
        if (blocks > Integer.MAX_VALUE) {
            throw new DpuException(
                    Status.TOO_BIG,
                    Text.format(
                            "volatile cache is not possible: blockDevice=%s, blocks=%d, limit=%d",
                            below.description(), blocks, Integer.MAX_VALUE));
        }
        LocalMemory memory;
        try {
            memory = LocalMemory.allocate(below.sizeBytes());
        } catch (DpuException e) {
            throw new DpuException(
                    e.status(),
                    Text.format(
                            "memory of a volatile cache cannot be allocated: blockDevice=%s,"
                                    + " sizeBytes=%d, reason=%s",
                            below.description(), below.sizeBytes(), Reason.of(e)),
                    e);
        }
        return new VolatileDevice(wrapped, memory, seed);
    }

    @Override
    public BlockProperties properties() {
        return properties;
    }

    @Override
    public BlockIdentity identity() {
        return identity;
    }

    @Override
    public void renewIdentity() {
        identity = BlockIdentity.random();
        wrapped.renewIdentity();
    }

    @Override
    public String method() {
        return wrapped.method();
    }

    @Override
    public ProviderChannel openChannel(ContextServices services, int maxRequests) {
        return new VolatileChannel(this, wrapped.openChannel(services, 1), services, maxRequests);
    }

    /** Closes both devices; what was not flushed is lost. */
    @Override
    public void close() {
        try (LocalMemory _ = memory) {
            wrapped.close();
        }
    }

    // ---- turns ----

    /**
     * Asks for the turn of a channel.
     *
     * @return whether it has it; otherwise it will be woken up when it has
     */
    synchronized boolean takeTurn(VolatileChannel channel) {
        if (current == null) {
            current = channel;
        }
        if (current != channel && !waiting.contains(channel)) {
            waiting.add(channel);
        }
        return current == channel;
    }

    /** Ends the turn of a channel, or its wait for one: the next one has its turn. */
    synchronized void endTurn(VolatileChannel channel) {
        waiting.remove(channel);
        if (current == channel) {
            current = waiting.poll();
            if (current != null) {
                current.wake();
            }
        }
    }

    // ---- for the channel that has its turn ----

    MemorySegment cache() {
        return memory.segment();
    }

    BitSet cached() {
        return cached;
    }

    BitSet dirty() {
        return dirty;
    }

    /** Whether a block is written out after a write, as after every second one. */
    boolean writesOut() {
        return dice.isHit(Dice.Subject.WRITE_OUT, nextNumber++, 0.5);
    }

    /** A dirty block; negative if there is none. */
    int anyDirty() {
        int from = (int) dice.below(Dice.Subject.BLOCK, nextNumber++, dirty.size());
        int found = dirty.nextSetBit(from);
        return found >= 0 ? found : dirty.nextSetBit(0);
    }
}
