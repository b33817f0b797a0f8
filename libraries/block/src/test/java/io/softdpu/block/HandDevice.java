package io.softdpu.block;

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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Device whose requests a test ends by hand, with any status. */
final class HandDevice implements ProviderDevice {
    static final int BLOCK_BYTES = 512;
    static final int DEVICE_BYTES = 64 << 10;

    /** The channels that were opened, in order. */
    final List<HandChannel> channels = new ArrayList<>();

    /** Whether it was closed. */
    boolean closed;

    /** Who uses the memory of its requests. */
    MemoryUser memoryUser = MemoryUser.ENGINE;

    /** Whether its writes are durable. */
    boolean writeThrough;

    /** Whether a request with FUA that fails is a flush that fails. */
    boolean mayHaveLost = true;

    /** What it refuses its requests with; null to accept them. */
    @Nullable Refusal refusal;

    private final BlockProperties properties;
    private volatile BlockIdentity identity = BlockIdentity.random();

    HandDevice(BlockFeature... features) {
        Set<BlockFeature> all = EnumSet.noneOf(BlockFeature.class);
        all.addAll(List.of(features));
        properties =
                new BlockProperties(
                        DEVICE_BYTES, BLOCK_BYTES, 4096, 8192, 1, all, "hand:" + DEVICE_BYTES);
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
    }

    @Override
    public MemoryUser memoryUser() {
        return memoryUser;
    }

    @Override
    public boolean isWriteThrough() {
        return writeThrough;
    }

    @Override
    public boolean mayHaveLost() {
        return mayHaveLost;
    }

    @Override
    public ProviderChannel openChannel(ContextServices services, int maxRequests) {
        HandChannel channel = new HandChannel();
        channels.add(channel);
        return channel;
    }

    @Override
    public void close() {
        closed = true;
    }

    /** Channel of a context. */
    final class HandChannel implements ProviderChannel {
        /** Requests that the test has not ended, as if the kernel had them. */
        final Deque<BlockRequest> held = new ArrayDeque<>();

        /** Whether it was closed. */
        boolean isClosed;

        /** Runs in its close. */
        Runnable atClose = () -> {};

        private final Deque<Runnable> ended = new ArrayDeque<>();

        /** Ends the oldest request that is held; it completes in the next progress. */
        void end(Status status) {
            BlockRequest request = held.removeFirst();
            ended.add(() -> request.complete(status));
        }

        @Override
        public @Nullable Refusal submit(BlockRequest request) {
            if (refusal == null) {
                held.add(request);
            }
            return refusal;
        }

        @Override
        public boolean progress() {
            boolean any = !ended.isEmpty();
            while (!ended.isEmpty()) {
                ended.removeFirst().run();
            }
            return any;
        }

        @Override
        public boolean arm() {
            return !ended.isEmpty();
        }

        @Override
        public boolean stop() {
            return held.isEmpty();
        }

        @Override
        public void close() {
            isClosed = true;
            atClose.run();
        }
    }
}
