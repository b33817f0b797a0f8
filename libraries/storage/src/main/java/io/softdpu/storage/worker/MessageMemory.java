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
 * Memory of a worker for io_messages: 64 bytes each, with an mmap over all and a buf over each. The
 * messages stay in place for the whole session; the bufs are reused.
 */
public final class MessageMemory implements AutoCloseable {
    private final SharedMemory memory;
    private final Mmap mmap;
    private final BufInventory inventory;
    private final Buf[] bufs;

    /**
     * Allocates the memory and the bufs.
     *
     * @param messages number of io_messages
     * @param permissions of the mmap: with PCI_READ_WRITE if a Comch consumer receives in it
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

    /** Offset of a message, in bytes. */
    public long at(int message) {
        return (long) message * IoMessageView.WIRE_BYTES;
    }

    /** The buf over a message. */
    public Buf buf(int message) {
        return bufs[message];
    }

    /** Empties a message's buf, to receive into it. */
    public void clear(int message) {
        bufs[message].resetDataLength();
    }

    /** Sets a message's buf to its 64 bytes, to send them. */
    public void fill(int message) {
        bufs[message].setData(at(message), IoMessageView.WIRE_BYTES);
    }

    @Override
    public void close() {
        for (@Nullable Buf buf : bufs) {
            if (buf != null) { // null if creating the bufs failed
                buf.release();
            }
        }
        Closeables.inOrder(inventory, mmap, memory);
    }
}
