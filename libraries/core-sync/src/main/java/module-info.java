/** Sync events: counters that programs of host, DPU and RDMA peers update and wait for. */
module io.softdpu.core.sync {
    requires transitive io.softdpu.core;
    requires io.softdpu.fabric;
    requires io.softdpu.linux;
    requires static org.jspecify;

    exports io.softdpu.core.sync;
    exports io.softdpu.core.sync.spi to
            io.softdpu.rdma;

    provides io.softdpu.core.capability.CapabilitySource with
            io.softdpu.core.sync.capability.SyncEventSource;
}
