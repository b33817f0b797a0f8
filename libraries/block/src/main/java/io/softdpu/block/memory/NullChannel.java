package io.softdpu.block.memory;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;

/** Channel to a device without blocks. */
final class NullChannel extends PassChannel {
    NullChannel(int maxRequests) {
        super(maxRequests);
    }

    @Override
    boolean movesBytes(BlockRequest request) {
        return request.operation == BlockOperation.READ;
    }

    /** Reads zeros: what the memory held before is not what was read. */
    @Override
    void move(BlockRequest request, long fromBytes, long sizeBytes) {
        Zeros.fill(request.memory, request.memoryOffsetBytes + fromBytes, sizeBytes);
    }
}
