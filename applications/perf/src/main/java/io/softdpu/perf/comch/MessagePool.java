package io.softdpu.perf.comch;

import io.softdpu.core.device.Device;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.perf.pair.ResourceStack;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Messages of one size in exportable memory, with a buf for each. Belongs to one thread.
 *
 * <p>A message of 8 bytes and more begins with a stamp.
 */
final class MessagePool implements AutoCloseable {
    /** A message begins where a cache line does. */
    private static final int ALIGNMENT = 64;

    private final ResourceStack resources = new ResourceStack();
    private final MemorySegment segment;
    private final Mmap mmap;
    private final Buf[] bufs;

    /** Makes all of it, or leaves nothing behind. */
    MessagePool(Device device, int count, long sizeBytes) {
        long stride = (sizeBytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        try {
            SharedMemory memory = resources.keep(SharedMemory.allocate(count * stride));
            segment = memory.segment();
            mmap = resources.keep(Mmap.create());
            mmap.setMemory(memory)
                    .setPermissions(
                            Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE))
                    .addDevice(device)
                    .start();
            BufInventory inventory = resources.keep(BufInventory.create(count));
            inventory.start();
            bufs = new Buf[count];
            for (int i = 0; i < count; i++) {
                Buf buf = inventory.bufByAddress(mmap, i * stride, sizeBytes);
                bufs[i] = buf;
                resources.keep(buf::release);
            }
        } catch (RuntimeException e) {
            resources.closeAfter(e);
            throw e;
        }
    }

    Mmap mmap() {
        return mmap;
    }

    Buf buf(int message) {
        return bufs[message];
    }

    /** The stamp of a message. */
    long stamp(Buf message) {
        return segment.get(ValueLayout.JAVA_LONG, message.offset());
    }

    /** Stamps a message. */
    void setStamp(Buf message, long stamp) {
        segment.set(ValueLayout.JAVA_LONG, message.offset(), stamp);
    }

    @Override
    public void close() {
        resources.close();
    }
}
