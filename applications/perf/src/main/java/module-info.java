/**
 * The measuring programs: the demo, which measures the storage pipeline, and the measurements of a
 * Comm Channel, of a sync event and of RDMA between two processes, and of a block device; the
 * protocol between their processes; and the statistics of a storage program. For the softdpu
 * command, which runs them.
 */
module io.softdpu.perf {
    requires com.fasterxml.jackson.databind;
    requires HdrHistogram;
    requires io.softdpu.block;
    requires io.softdpu.comch;
    requires io.softdpu.core;
    requires io.softdpu.core.sync;
    requires io.softdpu.linux;
    requires io.softdpu.rdma;
    requires io.softdpu.storage;
    requires jdk.management;
    requires static com.google.errorprone.annotations;
    requires static org.jspecify;

    exports io.softdpu.perf.block to
            io.softdpu.cli;
    exports io.softdpu.perf.card to
            io.softdpu.cli;
    exports io.softdpu.perf.child to
            io.softdpu.cli;
    exports io.softdpu.perf.comch to
            io.softdpu.cli;
    exports io.softdpu.perf.demo to
            io.softdpu.cli;
    exports io.softdpu.perf.pair to
            io.softdpu.cli;
    exports io.softdpu.perf.rdma to
            io.softdpu.cli;
    exports io.softdpu.perf.result to
            io.softdpu.cli;
    exports io.softdpu.perf.storage to
            io.softdpu.cli;
    exports io.softdpu.perf.sync to
            io.softdpu.cli;
    exports io.softdpu.perf.text to
            io.softdpu.cli;

    // Jackson reads records.
    opens io.softdpu.perf.child to
            com.fasterxml.jackson.databind;
}
