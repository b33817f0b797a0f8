package io.softdpu.core.spi.memory;

import java.lang.foreign.MemorySegment;

/** Memory of this process that peers may access by a key. Allocates nothing. */
public interface GrantedMemory {
    /** The memory. Bytes at addresses that are a multiple of eight have one in this process too. */
    MemorySegment memory();

    /** Address of the first byte of {@link #memory()}, as peers name it. */
    long address();

    /** A write or an atomic operation was executed: wakes those who wait for a sync event. */
    void changed();
}
