/** RDMA over UDP in the RoCE v2 format: packets, captures of them, and reliable connections. */
module io.softdpu.rdma.roce {
    requires io.softdpu.core;
    requires io.softdpu.linux;
    requires io.softdpu.rdma;
    requires static org.jspecify;

    exports io.softdpu.rdma.roce.capture to
            io.softdpu.cli;
    exports io.softdpu.rdma.roce.wire to
            io.softdpu.cli;
}
