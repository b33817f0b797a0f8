package io.softdpu.block.contract;

import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.block.spi.CompletionQueue;
import io.softdpu.block.spi.ExtentList;
import io.softdpu.block.spi.MemoryUser;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.spi.ContextServices;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Device in memory whose requests are executed by two threads of its own, and completed through a
 * {@link CompletionQueue}. It wants memory aligned to 64 bytes. A channel has few slots for
 * requests, so that a submission of many is refused with AGAIN.
 */
final class ThreadsDevice implements ProviderDevice {
    private static final int THREADS = 2;
    private static final int SLOTS = 32;
    private static final int ALIGNMENT_BYTES = 64;
    private static final Refusal FULL =
            Refusal.ready(Status.AGAIN, () -> "channel is full: requests=" + SLOTS);

    private final BlockProperties properties;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment blocks;
    private final List<Channel> channels = new CopyOnWriteArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile BlockIdentity identity = BlockIdentity.random();
    private volatile boolean closed;

    ThreadsDevice(long sizeBytes, int blockSizeBytes) {
        properties =
                new BlockProperties(
                        sizeBytes,
                        blockSizeBytes,
                        sizeBytes / 2,
                        sizeBytes,
                        ALIGNMENT_BYTES,
                        new ThreadsEnvironment().features(),
                        "threads:" + sizeBytes);
        blocks = arena.allocate(sizeBytes);
        for (int i = 0; i < THREADS; i++) {
            int first = i;
            Thread thread = new Thread(() -> run(first), "test-block-" + i);
            thread.setDaemon(true);
            threads.add(thread);
        }
        threads.forEach(Thread::start);
    }

    /** Executes the requests in every second slot of all channels. */
    private void run(int first) {
        while (!closed) {
            boolean any = false;
            for (Channel channel : channels) {
                any |= channel.execute(first);
            }
            if (!any) {
                LockSupport.park(this); // a submission since the look has left a permit
            }
        }
    }

    private void execute(BlockRequest request) {
        switch (request.operation) {
            case READ ->
                    MemorySegment.copy(
                            blocks,
                            request.offsetBytes,
                            request.memory,
                            request.memoryOffsetBytes,
                            request.lengthBytes);
            case WRITE ->
                    MemorySegment.copy(
                            request.memory,
                            request.memoryOffsetBytes,
                            blocks,
                            request.offsetBytes,
                            request.lengthBytes);
            case WRITE_ZEROES, DISCARD ->
                    blocks.asSlice(request.offsetBytes, request.lengthBytes).fill((byte) 0);
            case EXTENTS -> {
                ExtentList extents = Objects.requireNonNull(request.extents);
                boolean _ = extents.add(request.lengthBytes, false);
            }
            case FLUSH -> {}
        }
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
        return MemoryUser.THREADS;
    }

    @Override
    public ProviderChannel openChannel(ContextServices services, int maxRequests) {
        Channel channel = new Channel(services);
        channels.add(channel);
        return channel;
    }

    @Override
    public void close() {
        closed = true;
        threads.forEach(LockSupport::unpark);
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("no thread interrupts it", e);
        }
        arena.close();
    }

    /** Channel of a context. */
    private final class Channel implements ProviderChannel {
        private final AtomicReferenceArray<@Nullable BlockRequest> slots =
                new AtomicReferenceArray<>(SLOTS);
        private final CompletionQueue completions;

        Channel(ContextServices services) {
            completions = new CompletionQueue(services::wake);
        }

        /** Executes requests, on a thread of the device. */
        boolean execute(int first) {
            boolean any = false;
            for (int slot = first; slot < SLOTS; slot += THREADS) {
                BlockRequest request = slots.getAndSet(slot, null);
                if (request != null) {
                    ThreadsDevice.this.execute(request);
                    completions.add(request, Status.SUCCESS);
                    any = true;
                }
            }
            return any;
        }

        @Override
        public @Nullable Refusal submit(BlockRequest request) {
            for (int slot = 0; slot < SLOTS; slot++) {
                if (slots.compareAndSet(slot, null, request)) {
                    completions.handedOver();
                    LockSupport.unpark(threads.get(slot % THREADS));
                    return null;
                }
            }
            return FULL;
        }

        @Override
        public boolean progress() {
            return completions.complete();
        }

        @Override
        public boolean arm() {
            return completions.arm();
        }

        @Override
        public void disarm() {
            completions.disarm();
        }

        @Override
        public boolean stop() {
            boolean _ = completions.complete();
            return completions.inFlight() == 0;
        }

        @Override
        public void close() {
            channels.remove(this);
        }
    }
}
