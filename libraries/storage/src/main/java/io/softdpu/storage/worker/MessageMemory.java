package io.softdpu.storage.worker;

import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.storage.wire.IoMessageView;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A worker's memory for io_messages: 64 bytes each, with an mmap over them and a buf over each. The
 * messages stay where they are for the whole session; the bufs are used again in place.
 */
public final class MessageMemory implements AutoCloseable {
    private final SharedMemory memory;
    private final Mmap mmap;
    private final BufInventory inventory;
    private final Buf[] bufs;

    /**
     * Allocates the memory and the bufs.
     *
     * @param messages how many io_messages
     * @param permissions what they are used for: PCI_READ_WRITE where a Comch consumer receives
     * @throws io.softdpu.core.DpuException NO_MEMORY
     */
    public MessageMemory(Device device, int messages, Permissions permissions) {
        memory = SharedMemory.allocate((long) messages * IoMessageView.WIRE_BYTES);
        mmap = Mmap.create();
        inventory = BufInventory.create(messages);
        bufs = new Buf[messages];
        try {
            mmap.setMemory(memory).setPermissions(permissions).addDevice(device).start();
            inventory.start();
            for (int i = 0; i < messages; i++) {
                bufs[i] = inventory.bufByAddress(mmap, at(i), IoMessageView.WIRE_BYTES);
            }
        } catch (RuntimeException | Error e) {
            Closeables.afterFailure(e, this);
            throw e;
        }
    }

    /** The mmap over all messages. */
    public Mmap mmap() {
        return mmap;
    }

    /** The bytes of all messages. */
    public MemorySegment segment() {
        return memory.segment();
    }

    /** Where a message begins. */
    public long at(int message) {
        return (long) message * IoMessageView.WIRE_BYTES;
    }

    /** The buf over a message. */
    public Buf buf(int message) {
        return bufs[message];
    }

    /** Makes a message's buf empty, so that something can be received in it. */
    public void clear(int message) {
        bufs[message].resetDataLength();
    }

    /** Makes a message's buf hold its 64 bytes, so that they can be sent. */
    public void fill(int message) {
        bufs[message].setData(at(message), IoMessageView.WIRE_BYTES);
    }

    @Override
    public void close() {
        for (@Nullable Buf buf : bufs) {
            if (buf != null) { // null behind the place where making them had to be given up
                buf.release();
            }
        }
        Closeables.inOrder(inventory, mmap, memory);
    }
}
