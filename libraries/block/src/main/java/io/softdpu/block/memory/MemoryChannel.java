package io.softdpu.block.memory;

import io.softdpu.block.spi.BlockRequest;
import io.softdpu.core.copy.Copier;
import java.lang.foreign.MemorySegment;

/** Channel to blocks in memory. */
final class MemoryChannel extends PassChannel {
    private final MemorySegment blocks;
    private final Copier copier;

    MemoryChannel(MemorySegment blocks, Copier copier, int maxRequests) {
        super(maxRequests);
        this.blocks = blocks;
        this.copier = copier;
    }

    @Override
    boolean movesBytes(BlockRequest request) {
        return switch (request.operation) {
            case READ, WRITE, WRITE_ZEROES -> true;
            case FLUSH, DISCARD, EXTENTS -> false;
        };
    }

    @Override
    void move(BlockRequest request, long fromBytes, long sizeBytes) {
        long at = request.offsetBytes + fromBytes;
        long memoryAt = request.memoryOffsetBytes + fromBytes;
        switch (request.operation) {
            case READ -> copier.payload(blocks, at, request.memory, memoryAt, sizeBytes);
            case WRITE -> copier.payload(request.memory, memoryAt, blocks, at, sizeBytes);
            case WRITE_ZEROES -> Zeros.fill(blocks, at, sizeBytes);
            case FLUSH, DISCARD, EXTENTS ->
                    throw new IllegalStateException("moves no bytes: " + request.operation);
        }
    }
}
