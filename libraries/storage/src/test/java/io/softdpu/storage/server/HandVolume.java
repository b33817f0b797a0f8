package io.softdpu.storage.server;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.block.spi.MemoryUser;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.spi.ContextServices;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Volume without blocks whose requests end, youngest first, as a test decides. */
final class HandVolume implements ProviderDevice {
    /** Longest request in bytes. */
    static final int MAX_REQUEST_BYTES = 64 << 10;

    /** Alignment of memory in bytes. */
    static final int ALIGNMENT_BYTES = 8192;

    private static final byte ONE = 1;

    private static final Map<String, HandVolume> PREPARED = new ConcurrentHashMap<>();

    /** Offsets of all requests in the order of their submission. */
    final List<Long> offsets = Collections.synchronizedList(new ArrayList<>());

    /** Addresses of the memory of all requests. */
    final List<Long> addresses = Collections.synchronizedList(new ArrayList<>());

    /** Number of requests that are there before any ends. */
    volatile int together = 1;

    /** Whether none ends; see {@link #release}. */
    volatile boolean holding;

    /** What all requests end with. */
    volatile Status result = Status.SUCCESS;

    /** What requests are refused with; null to accept them. */
    volatile @Nullable Refusal refusal;

    /** Number of requests that are accepted before others are refused. */
    volatile int accepted;

    /** The largest number of requests at a time. */
    volatile int most;

    /** Whether the context has begun to stop while requests were held. */
    volatile boolean heldInStop;

    private volatile @Nullable ContextServices services;

    private volatile @Nullable BlockProperties properties;

    private HandVolume() {}

    /** Prepares the volume of this name, which {@link #open} opens. */
    static HandVolume prepare(String name) {
        HandVolume prepared = new HandVolume();
        PREPARED.put(name, prepared);
        return prepared;
    }

    static BlockDevice open(String name, long sizeBytes) {
        return BlockDevice.open("hand:" + name + ":" + sizeBytes);
    }

    static ProviderDevice named(String name, long sizeBytes, int blockSizeBytes) {
        HandVolume volume = PREPARED.remove(name);
        volume.properties =
                new BlockProperties(
                        sizeBytes,
                        blockSizeBytes,
                        MAX_REQUEST_BYTES,
                        MAX_REQUEST_BYTES,
                        ALIGNMENT_BYTES,
                        EnumSet.noneOf(BlockFeature.class),
                        "hand:" + name);
        return volume;
    }

    /** Lets the requests that are held end. */
    void release() {
        holding = false;
        services.wake();
    }

    @Override
    public BlockProperties properties() {
        return properties;
    }

    @Override
    public BlockIdentity identity() {
        return BlockIdentity.random();
    }

    @Override
    public void renewIdentity() {}

    @Override
    public MemoryUser memoryUser() {
        return MemoryUser.KERNEL;
    }

    @Override
    public ProviderChannel openChannel(ContextServices ofContext, int maxRequests) {
        services = ofContext;
        return new Channel();
    }

    @Override
    public void close() {}

    private final class Channel implements ProviderChannel {
        private final List<BlockRequest> held = new ArrayList<>();
        private boolean begun;

        @Override
        public @Nullable Refusal submit(BlockRequest request) {
            if (refusal != null && offsets.size() >= accepted) {
                return refusal;
            }
            held.add(request);
            offsets.add(request.offsetBytes);
            addresses.add(request.memory.address() + request.memoryOffsetBytes);
            most = Math.max(most, held.size());
            return null;
        }

        @Override
        public boolean progress() {
            begun |= held.size() >= together;
            if (holding || !begun || held.isEmpty()) {
                return false;
            }
            held.removeLast().complete(result);
            return true;
        }

        @Override
        public boolean arm() {
            return !held.isEmpty() && !holding && (begun || held.size() >= together);
        }

        /** Writes to the memory, as the kernel would, which fails if it has been released. */
        @Override
        public boolean stop() {
            boolean holds = holding;
            for (BlockRequest request : held) {
                request.memory.asSlice(request.memoryOffsetBytes, request.lengthBytes).fill(ONE);
            }
            if (holds && !held.isEmpty()) {
                heldInStop = true;
                return false;
            }
            while (!held.isEmpty()) {
                held.removeLast().complete(Status.SUCCESS);
            }
            return true;
        }

        @Override
        public void close() {}
    }
}
