/**
 * The only native calls of softdpu: one class per family of Linux system calls, bound with the
 * foreign function API of the JDK. It does not depend on the DPU model.
 *
 * <p>Run it with {@code --enable-native-access=io.softdpu.linux}; no other module needs that.
 */
module io.softdpu.linux {
    requires static com.google.errorprone.annotations;
    requires static org.jspecify;

    exports io.softdpu.linux to
            io.softdpu.block,
            io.softdpu.cli,
            io.softdpu.core,
            io.softdpu.core.sync,
            io.softdpu.fabric,
            io.softdpu.perf,
            io.softdpu.rdma.roce,
            io.softdpu.storage;
    exports io.softdpu.linux.event to
            io.softdpu.core,
            io.softdpu.fabric,
            io.softdpu.rdma.roce;
    exports io.softdpu.linux.file to
            io.softdpu.block,
            io.softdpu.cli,
            io.softdpu.core,
            io.softdpu.fabric,
            io.softdpu.perf,
            io.softdpu.rdma.roce,
            io.softdpu.samples,
            io.softdpu.storage,
            io.softdpu.topology.json;
    exports io.softdpu.linux.text to
            io.softdpu.block,
            io.softdpu.cli,
            io.softdpu.comch,
            io.softdpu.compute,
            io.softdpu.core,
            io.softdpu.core.graph,
            io.softdpu.core.sync,
            io.softdpu.fabric,
            io.softdpu.junit,
            io.softdpu.perf,
            io.softdpu.rdma,
            io.softdpu.rdma.contract,
            io.softdpu.rdma.roce,
            io.softdpu.rdma.shm,
            io.softdpu.samples,
            io.softdpu.storage,
            io.softdpu.topology.json;
}
