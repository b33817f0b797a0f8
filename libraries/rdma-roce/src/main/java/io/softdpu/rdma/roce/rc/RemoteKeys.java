package io.softdpu.rdma.roce.rc;

import io.softdpu.core.spi.memory.RemoteMemory;

/** Names of a peer's memory in packets. Allocates nothing. */
public interface RemoteKeys {
    /** The key by which the peer grants access to its memory. */
    int key(RemoteMemory memory);

    /** Address of the first byte of the memory, as its peer names it. */
    long address(RemoteMemory memory);
}
