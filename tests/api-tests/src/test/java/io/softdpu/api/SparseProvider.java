package io.softdpu.api;

import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockProvider;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.block.spi.DeviceUri;
import io.softdpu.block.spi.ExtentList;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.core.spi.FixedQueue;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Provider of block devices with all types of tasks, which succeed and do nothing. The first block
 * of each range is a hole, the rest is data.
 */
public final class SparseProvider implements BlockProvider {
    /** For ServiceLoader. */
    public SparseProvider() {}

    @Override
    public String scheme() {
        return "sparse";
    }

    @Override
    public String form() {
        return "sparse:SIZE";
    }

    @Override
    public ProviderDevice open(DeviceUri uri) {
        Set<BlockFeature> features = EnumSet.allOf(BlockFeature.class);
        features.remove(BlockFeature.READ_ONLY);
        int block = uri.blockSizeBytes();
        return new SparseDevice(
                new BlockProperties(
                        uri.size(), block, block, uri.size(), 1, features, "sparse:" + uri.size()),
                LocalMemory.allocate(uri.size()));
    }

    private record SparseDevice(BlockProperties properties, LocalMemory memory)
            implements ProviderDevice {
        @Override
        public BlockIdentity identity() {
            return new BlockIdentity(1, 2);
        }

        @Override
        public void renewIdentity() {}

        @Override
        public ProviderChannel openChannel(ContextServices services, int maxRequests) {
            return new Channel(properties.blockSizeBytes(), new FixedQueue<>(maxRequests));
        }

        @Override
        public void close() {
            memory.close();
        }
    }

    private record Channel(int blockSizeBytes, FixedQueue<BlockRequest> requests)
            implements ProviderChannel {
        @Override
        public @Nullable Refusal submit(BlockRequest request) {
            requests.add(request);
            return null;
        }

        @Override
        public boolean progress() {
            int count = requests.size();
            for (int i = 0; i < count; i++) {
                BlockRequest request = requests.remove();
                if (request.operation == BlockOperation.EXTENTS) {
                    ExtentList extents = Objects.requireNonNull(request.extents);
                    boolean _ = extents.add(blockSizeBytes, true);
                    boolean _ = extents.add(blockSizeBytes, false);
                }
                request.complete(Status.SUCCESS);
            }
            return count > 0;
        }

        @Override
        public boolean arm() {
            return !requests.isEmpty();
        }

        @Override
        public boolean stop() {
            while (!requests.isEmpty()) {
                requests.remove().complete(Status.SHUTDOWN);
            }
            return true;
        }

        @Override
        public void close() {}
    }
}
