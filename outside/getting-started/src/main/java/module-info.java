/** Programs of docs/getting-started.md. */
module gettingstarted {
    requires io.softdpu.block;
    requires io.softdpu.comch;
    requires io.softdpu.compute;
    requires io.softdpu.core.graph;
    requires io.softdpu.rdma;
}
