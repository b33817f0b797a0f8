/**
 * RDMA instances, their tasks and connections, and the service provider interface of transports.
 */
module io.softdpu.rdma {
    requires transitive io.softdpu.core;
    requires transitive io.softdpu.core.sync;
    requires io.softdpu.linux;
    requires static org.jspecify;

    exports io.softdpu.rdma;
    exports io.softdpu.rdma.spi to
            io.softdpu.rdma.roce,
            io.softdpu.rdma.shm;

    uses io.softdpu.rdma.spi.RdmaProvider;

    provides io.softdpu.core.capability.CapabilitySource with
            io.softdpu.rdma.capability.RdmaSource;
}
