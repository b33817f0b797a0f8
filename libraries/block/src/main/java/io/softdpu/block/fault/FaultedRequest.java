package io.softdpu.block.fault;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Requests in place of one that suffers a fault: the channel below executes them, and their end is
 * that of the other. Belongs to the thread of the engine.
 */
abstract class FaultedRequest implements BlockRequest.Owner {
    private final FaultChannel channel;
    private final BlockRequest faulted;

    FaultedRequest(FaultChannel channel, BlockRequest faulted) {
        this.channel = channel;
        this.faulted = faulted;
    }

    /** The request with the fault. */
    final BlockRequest faulted() {
        return faulted;
    }

    /** Executes an operation on the blocks of the request, with other memory. */
    final void execute(BlockOperation operation, MemorySegment memory, long memoryOffsetBytes) {
        BlockRequest request = new BlockRequest(operation, this, null);
        request.offsetBytes = faulted.offsetBytes;
        request.lengthBytes = faulted.lengthBytes;
        request.fua = operation == BlockOperation.WRITE && faulted.fua;
        request.memory = memory;
        request.memoryOffsetBytes = memoryOffsetBytes;
        channel.execute(request);
    }

    /** Changes a bit of the bytes of the request in memory. */
    static void flip(MemorySegment memory, long fromBytes, long bit) {
        long at = fromBytes + bit / Byte.SIZE;
        byte changed =
                (byte) (memory.get(ValueLayout.JAVA_BYTE, at) ^ (1 << (int) (bit % Byte.SIZE)));
        memory.set(ValueLayout.JAVA_BYTE, at, changed);
    }
}
