package io.softdpu.core.internal.access;

import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.fabric.wire.RegionAddress;

/** The part of {@link RemoteMemory} that names the bus. Any thread. */
public interface ExportedMemory extends RemoteMemory {
    /** The bus that has exported it. */
    RegionAddress.Id exporter();
}
