/** Zero-copy storage pipeline: initiator, service, target. */
module io.softdpu.storage {
    requires transitive io.softdpu.block;
    requires transitive io.softdpu.core;
    requires transitive io.softdpu.comch;
    requires io.softdpu.linux;
    requires io.softdpu.rdma;
    requires HdrHistogram;
    requires jdk.management;
    requires static org.jspecify;

    exports io.softdpu.storage;
    exports io.softdpu.storage.control;
    exports io.softdpu.storage.initiator;
    exports io.softdpu.storage.relay;
    exports io.softdpu.storage.server;
    exports io.softdpu.storage.wire;
    exports io.softdpu.storage.workload;
}
