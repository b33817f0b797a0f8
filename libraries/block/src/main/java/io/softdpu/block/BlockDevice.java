package io.softdpu.block;

import io.softdpu.block.memory.VolumeFile;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.block.spi.BlockProviders;
import io.softdpu.block.spi.MemoryUser;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.core.spi.LibraryObject;
import io.softdpu.linux.text.Text;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Open block device: a range of blocks that tasks read and write.
 *
 * <p>The order: {@linkplain #open open}, {@linkplain #attach attach} to a device of the machine,
 * {@linkplain #createContext create a context} for each core, close the contexts, close the device.
 *
 * <p>A URI has a word and a colon first, or is a path:
 *
 * <table>
 *   <caption>URIs</caption>
 *   <tr><th>URI</th><th>blocks</th></tr>
 *   <tr><td>{@code memory:SIZE}</td><td>memory, filled with a pattern whose words all differ
 *   </td></tr>
 *   <tr><td>{@code copy:PATH}, {@code PATH}</td><td>memory, a copy of a file, which is read once
 *   and never written; a path with a colon is {@code ./a:b}</td></tr>
 *   <tr><td>{@code file:PATH}, with options behind a {@code ?}</td><td>those of a file, or of a
 *   block device of the machine, which no other process uses meanwhile</td></tr>
 *   <tr><td>{@code null:SIZE}</td><td>none: writes go nowhere, and reads deliver zeros</td></tr>
 *   <tr><td>{@code fault:OPTIONS:URI}</td><td>those of another device, which fails on demand
 *   </td></tr>
 * </table>
 *
 * <p>A SIZE is in bytes, or has K, M, G or T for powers of 1024, as in {@code 64MiB}. Other modules
 * may have further words.
 *
 * <p>Any thread.
 */
public final class BlockDevice implements AutoCloseable {
    /** Size of a block in bytes, if none is given. */
    public static final int DEFAULT_BLOCK_SIZE_BYTES = 4096;

    /** The largest number of blocks of a binary content: what its header can say. */
    public static final long MAX_BLOCK_COUNT = VolumeFile.MAX_BLOCK_COUNT;

    private static final int MAX_NAMED = 8;

    private final ProviderDevice provider;

    /** Names of the started contexts, for messages. */
    private final List<String> users = new ArrayList<>();

    private @Nullable Device device;
    private LibraryObject.@Nullable Hold onDevice;
    private @Nullable Mmap mmap;
    private boolean closed;

    /** Whether a flush has failed; read at the end of each flush, so without the lock. */
    private volatile boolean lost;

    /** A device that its provider has opened; it is closed with this. */
    BlockDevice(ProviderDevice provider) {
        this.provider = provider;
    }

    /**
     * Opens a device with blocks of {@link #DEFAULT_BLOCK_SIZE_BYTES}.
     *
     * @throws DpuException as {@link #open(String, int)}
     */
    public static BlockDevice open(String uri) {
        return open(uri, DEFAULT_BLOCK_SIZE_BYTES);
    }

    /**
     * Opens a device.
     *
     * @param uri see the class
     * @param blockSizeBytes size of a block: a power of two from 512 to 1 MiB
     * @throws io.softdpu.block.property.BlockUriException naming the known forms, for an unknown
     *     word or a wrong option
     * @throws DpuException INVALID_VALUE for an illegal size of a block, and for a file whose size
     *     is no positive multiple of it; NOT_FOUND, NOT_PERMITTED, NOT_SUPPORTED, IN_USE, FULL or
     *     IO_FAILED naming the file; NO_MEMORY
     */
    public static BlockDevice open(String uri, int blockSizeBytes) {
        return new BlockDevice(BlockProviders.open(uri, blockSizeBytes));
    }

    /**
     * Opens a device in memory with a copy of a binary content as DOCA's storage target reads it:
     * of an {@code .sbc} file, which is known by its first bytes and has the sizes in its header,
     * or of a raw file of exactly {@code blockCount x blockSizeBytes} bytes. The file is read once
     * and never written.
     *
     * @param blockSizeBytes bytes of a block of a raw file: a power of two from 512 to 1 MiB
     * @param blockCount blocks of a raw file, 1 to {@link #MAX_BLOCK_COUNT}
     * @throws DpuException as for the copy of a file; INVALID_VALUE, naming field and offset, for a
     *     header that does not fit its file
     */
    public static BlockDevice openBinaryContent(Path file, int blockSizeBytes, long blockCount) {
        Arguments.notNull(file, "file");
        return new BlockDevice(VolumeFile.binaryContent(file, blockSizeBytes, blockCount));
    }

    /** Its sizes, limits and features; also after {@link #close}. */
    public BlockProperties properties() {
        return provider.properties();
    }

    /**
     * How its requests are executed, for people: {@code engine} in the passes of the engine's
     * thread, or a word of its provider, such as {@code threads}.
     */
    public String method() {
        return provider.method();
    }

    /**
     * The present identity: that of a device that may have lost acknowledged data is another one
     * than before. For a device that is not persistent it is random at each open. It may wait for a
     * flush that has just failed.
     */
    public synchronized BlockIdentity identity() {
        return provider.identity();
    }

    /**
     * Attaches it to a device of the machine, once: that is the device of its contexts, and can
     * reach its {@link #memory()}. Until {@link #close()} that device cannot be closed.
     *
     * @throws DpuException BAD_STATE if it is attached or closed already, or the device is closed
     */
    public synchronized void attach(Device device) {
        Arguments.notNull(device, "device");
        requireOpen();
        if (this.device != null) {
            throw badState("block device is attached already", "one call of BlockDevice.attach");
        }
        LibraryObject.Hold hold = LibraryObject.hold(device, toString(), () -> {});
        boolean attached = false;
        try {
            mmap = mapped(device);
            attached = true;
        } finally {
            if (!attached) {
                hold.release();
            }
        }
        onDevice = hold;
        this.device = device;
    }

    private @Nullable Mmap mapped(Device accessing) {
        LocalMemory memory = provider.memory();
        return memory == null
                ? null
                : Mmap.create()
                        .setMemory(memory)
                        .setPermissions(Permissions.LOCAL_READ_WRITE)
                        .addDevice(accessing)
                        .start();
    }

    /**
     * The blocks, where they are memory of this process, for tasks of other libraries: the byte at
     * offset {@code i} of the device is the byte at offset {@code i} of this mmap. It is started,
     * local, stays the device's, and is closed with it.
     *
     * @return null if they are not
     * @throws DpuException BAD_STATE before {@link #attach}, and after {@link #close}
     */
    public synchronized @Nullable Mmap memory() {
        requireAttached();
        return mmap;
    }

    /**
     * Creates a context, to be configured and connected to an engine. It keeps this device open
     * from its start until it is IDLE.
     *
     * @throws DpuException BAD_STATE before {@link #attach}, and after {@link #close}
     */
    public synchronized BlockContext createContext() {
        return new ChannelContext(this, requireAttached());
    }

    /**
     * Closes the device; idempotent.
     *
     * @throws DpuException IN_USE while contexts are started, naming them; NOT_PERMITTED while bufs
     *     are in its {@link #memory()}; the device stays open then. IO_FAILED if acknowledged bytes
     *     were lost, as a flush would be; it is closed then
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        if (!users.isEmpty()) {
            throw new DpuException(
                    Status.IN_USE,
                    Text.format(
                            "still in use: blockDevice=%s, contexts=%d, first=%s",
                            this,
                            users.size(),
                            users.subList(0, Math.min(users.size(), MAX_NAMED))));
        }
        if (mmap != null) {
            mmap.close();
            mmap = null;
        }
        closed = true;
        try {
            provider.close();
        } finally {
            if (onDevice != null) {
                onDevice.release();
                onDevice = null;
            }
        }
    }

    /** Its description. */
    @Override
    public String toString() {
        return provider.properties().description();
    }

    // ---- for its contexts ----

    /**
     * Opens the channel of a context that starts.
     *
     * @throws DpuException BAD_STATE if the device is closed; else as its provider refuses
     */
    synchronized ProviderChannel enter(
            ChannelContext context, ContextServices services, int maxRequests) {
        if (closed) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "block device is closed: blockDevice=%s, user=%s, expected=one that is"
                                    + " open",
                            this, context));
        }
        ProviderChannel channel = provider.openChannel(services, maxRequests);
        users.add(context.toString());
        return channel;
    }

    /** The user of the memory of its requests. */
    MemoryUser memoryUser() {
        return provider.memoryUser();
    }

    /** Whether every write is durable when it completes. */
    boolean isWriteThrough() {
        return provider.isWriteThrough();
    }

    /** A context has closed its channel. */
    synchronized void leave(ChannelContext context) {
        users.remove(context.toString());
    }

    /** Whether a flush has failed, so that none may succeed any more. */
    boolean hasLost() {
        return lost;
    }

    /** Whether a failed FUA request counts as a failed flush. */
    boolean mayHaveLost() {
        return provider.mayHaveLost();
    }

    /** A flush has failed: takes another identity, once, before this returns on any thread. */
    synchronized void flushFailed() {
        if (!lost) {
            lost = true; // first, so that no flush succeeds under the other identity
            provider.renewIdentity();
        }
    }

    private Device requireAttached() {
        requireOpen();
        if (device == null) {
            throw badState("block device is not attached", "BlockDevice.attach first");
        }
        return device;
    }

    private void requireOpen() {
        if (closed) {
            throw badState("block device is closed", "one that is open");
        }
    }

    private DpuException badState(String reason, String expected) {
        return new DpuException(
                Status.BAD_STATE,
                Text.format("%s: blockDevice=%s, expected=%s", reason, this, expected));
    }
}
