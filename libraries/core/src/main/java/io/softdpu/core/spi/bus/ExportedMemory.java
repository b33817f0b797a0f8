package io.softdpu.core.spi.bus;

import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.fabric.wire.RegionAddress;

/** Memory of a peer that is known with its bus, for transports on the bus. Any thread. */
public interface ExportedMemory extends RemoteMemory {
    /** The bus that has exported it. */
    RegionAddress.Id exporter();

    /**
     * Whether the exporter is a process of this kernel and fabric folder. Memory of another one is
     * reached over a network alone: it is not mapped, and this process is not told of its end.
     */
    boolean isOnBus();
}
