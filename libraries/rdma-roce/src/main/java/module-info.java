/** RDMA provider over UDP in the RoCE v2 format, and captures of its packets. */
module io.softdpu.rdma.roce {
    requires transitive io.softdpu.core;
    requires io.softdpu.linux;
    requires transitive io.softdpu.rdma;
    requires static org.jspecify;

    exports io.softdpu.rdma.roce;
    exports io.softdpu.rdma.roce.capture to
            io.softdpu.cli;
    exports io.softdpu.rdma.roce.nic to
            io.softdpu.cli;
    exports io.softdpu.rdma.roce.wire to
            io.softdpu.cli;

    provides io.softdpu.rdma.spi.RdmaProvider with
            io.softdpu.rdma.roce.RoceService.Provider;
}
