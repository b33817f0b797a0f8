/**
 * Contract of RDMA providers, as abstract JUnit classes on the public RDMA API, which a provider's
 * tests subclass.
 */
@SuppressWarnings({"module", "requires-automatic"})
open module io.softdpu.rdma.contract {
    requires transitive io.softdpu.rdma;
    requires transitive org.junit.jupiter.api;
    requires io.softdpu.core.graph;
    requires io.softdpu.testkit;
    requires io.softdpu.linux;
    requires org.assertj.core;
    requires org.junit.jupiter.params;
    requires jdk.management;
    requires static org.jspecify;

    exports io.softdpu.rdma.contract;
}
