/** Small programs to learn from, one for each way of working; the command runs them by name. */
module io.softdpu.samples {
    requires io.softdpu.comch;
    requires io.softdpu.compute;
    requires io.softdpu.core;
    requires io.softdpu.core.graph;
    requires io.softdpu.core.sync;
    requires io.softdpu.linux;
    requires io.softdpu.rdma;
    requires io.softdpu.rdma.roce;
    requires static org.jspecify;

    exports io.softdpu.samples;
}
