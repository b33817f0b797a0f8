/** DOCA Core: devices, memory, and the execution model. */
module io.softdpu.core {
    requires io.softdpu.fabric;
    requires io.softdpu.linux;
    requires static com.google.errorprone.annotations;
    requires static org.jspecify;

    exports io.softdpu.core;
    exports io.softdpu.core.capability;
    exports io.softdpu.core.check to
            io.softdpu.block,
            io.softdpu.comch,
            io.softdpu.compute,
            io.softdpu.core.graph,
            io.softdpu.core.sync,
            io.softdpu.rdma,
            io.softdpu.rdma.roce,
            io.softdpu.rdma.shm;
    exports io.softdpu.core.copy to
            io.softdpu.block,
            io.softdpu.comch,
            io.softdpu.compute,
            io.softdpu.rdma.roce,
            io.softdpu.rdma.shm;
    exports io.softdpu.core.device;
    exports io.softdpu.core.execution;
    exports io.softdpu.core.memory;
    exports io.softdpu.core.process to
            io.softdpu.cli,
            io.softdpu.junit,
            io.softdpu.perf;
    exports io.softdpu.core.resource to
            io.softdpu.junit;
    exports io.softdpu.core.spi to
            io.softdpu.block,
            io.softdpu.comch,
            io.softdpu.compute,
            io.softdpu.core.graph,
            io.softdpu.core.sync,
            io.softdpu.rdma,
            io.softdpu.rdma.roce,
            io.softdpu.rdma.shm;
    exports io.softdpu.core.spi.bus to
            io.softdpu.core.sync;
    exports io.softdpu.core.spi.graph to
            io.softdpu.core.graph;
    exports io.softdpu.core.spi.memory to
            io.softdpu.core.sync,
            io.softdpu.rdma,
            io.softdpu.rdma.roce,
            io.softdpu.rdma.shm;

    uses io.softdpu.core.capability.CapabilitySource;
    uses io.softdpu.core.device.TopologySource;
    uses io.softdpu.core.internal.base.ProfileCheck;

    provides io.softdpu.core.capability.CapabilitySource with
            io.softdpu.core.capability.CoreSource;
    provides io.softdpu.core.internal.base.ProfileCheck with
            io.softdpu.core.limit.LibraryLimits;
}
