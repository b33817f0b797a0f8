package io.softdpu.storage.backend;

import io.softdpu.core.DpuException;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Mmap;

/** Range of blocks that a storage target serves. */
public interface Volume extends AutoCloseable {
    /** The size in bytes: a positive multiple of the block size. */
    long sizeBytes();

    /** The size of a block in bytes: a power of two from 512 to 1 MiB. */
    int blockSizeBytes();

    /**
     * Makes the volume accessible to tasks of this device. Called once, before {@link #memory}.
     *
     * @throws DpuException BAD_STATE if it is attached or closed already
     */
    void attach(Device device);

    /**
     * The memory that RDMA tasks read and write: the byte at offset {@code i} of the volume is the
     * byte at offset {@code i} of this mmap. Started, local read-write, and not closed before the
     * volume.
     *
     * @throws DpuException BAD_STATE before {@link #attach}
     */
    Mmap memory();

    /** Releases all resources. Idempotent; no buf over {@link #memory} may be in use. */
    @Override
    void close();
}
