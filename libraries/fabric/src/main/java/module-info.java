/**
 * The PCIe bus in software: shared regions, leases, doorbells and rings between the processes of
 * one machine. Internal to softdpu; the DOCA model above it is the public API.
 */
module io.softdpu.fabric {
    requires io.softdpu.linux;
    requires static org.jspecify;

    exports io.softdpu.fabric to
            io.softdpu.core,
            io.softdpu.core.sync,
            io.softdpu.comch,
            io.softdpu.rdma.shm;
    exports io.softdpu.fabric.engine to
            io.softdpu.core;
    exports io.softdpu.fabric.error to
            io.softdpu.cli,
            io.softdpu.core,
            io.softdpu.core.sync,
            io.softdpu.comch,
            io.softdpu.rdma.shm;
    exports io.softdpu.fabric.folder to
            io.softdpu.cli;
    exports io.softdpu.fabric.handshake to
            io.softdpu.core,
            io.softdpu.core.sync,
            io.softdpu.comch,
            io.softdpu.rdma.shm;
    exports io.softdpu.fabric.link to
            io.softdpu.core,
            io.softdpu.core.sync,
            io.softdpu.comch,
            io.softdpu.rdma.shm;
    exports io.softdpu.fabric.memory to
            io.softdpu.core,
            io.softdpu.core.sync,
            io.softdpu.comch,
            io.softdpu.rdma.shm;
    exports io.softdpu.fabric.region to
            io.softdpu.core,
            io.softdpu.comch,
            io.softdpu.rdma.shm;
    exports io.softdpu.fabric.ring to
            io.softdpu.comch,
            io.softdpu.rdma.shm;
    exports io.softdpu.fabric.wire to
            io.softdpu.core,
            io.softdpu.core.sync,
            io.softdpu.comch,
            io.softdpu.rdma.shm;
}
