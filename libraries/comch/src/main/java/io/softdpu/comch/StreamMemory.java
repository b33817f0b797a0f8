package io.softdpu.comch;

import io.softdpu.core.device.Device;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** Memory of the buffers of one direction of a stream, with a buf for each. */
final class StreamMemory {
    /** A buffer begins where a cache line does. */
    private static final long ALIGNMENT_BYTES = 64;

    private final Deque<Runnable> closes = new ArrayDeque<>();
    private final Mmap mmap;
    private final MemorySegment[] segments;
    private final Buf[] bufs;

    /**
     * Allocates all of it, or leaves nothing behind.
     *
     * @param shared whether the peer writes to it
     */
    StreamMemory(Device device, boolean shared, int count, long bufferBytes) {
        long stride = (bufferBytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
        @Nullable Mmap created = null;
        segments = new MemorySegment[count];
        bufs = new Buf[count];
        boolean complete = false;
        try {
            Mmap mapped = Mmap.create();
            created = mapped;
            MemorySegment memory = allocate(mapped, shared, count * stride);
            mapped.addDevice(device).start();
            BufInventory inventory = BufInventory.create(count).start();
            closes.push(inventory::close);
            for (int i = 0; i < count; i++) {
                segments[i] = memory.asSlice(i * stride, bufferBytes);
                bufs[i] = inventory.bufByAddress(mapped, i * stride, bufferBytes);
                closes.push(bufs[i]::release);
            }
            complete = true;
        } finally {
            if (!complete) {
                close();
            }
        }
        mmap = created;
    }

    /** Allocates the memory of an mmap; the mmap is closed before it. */
    private MemorySegment allocate(Mmap mapped, boolean shared, long sizeBytes) {
        if (shared) {
            SharedMemory memory = SharedMemory.allocate(sizeBytes);
            closes.push(memory::close);
            closes.push(mapped::close);
            mapped.setMemory(memory)
                    .setPermissions(
                            Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE));
            return memory.segment();
        }
        LocalMemory memory = LocalMemory.allocate(sizeBytes);
        closes.push(memory::close);
        closes.push(mapped::close);
        mapped.setMemory(memory).setPermissions(Permissions.of(AccessFlag.LOCAL_READ_WRITE));
        return memory.segment();
    }

    Mmap mmap() {
        return mmap;
    }

    MemorySegment segment(int buffer) {
        return segments[buffer];
    }

    Buf buf(int buffer) {
        return bufs[buffer];
    }

    /** Releases all of it; no task has a buf. */
    void close() {
        while (!closes.isEmpty()) {
            closes.pop().run();
        }
    }
}
