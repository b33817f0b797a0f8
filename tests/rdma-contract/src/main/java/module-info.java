/**
 * What every RDMA provider has to do, as abstract JUnit classes above the public RDMA API. A
 * provider's tests subclass them.
 */
@SuppressWarnings({"module", "requires-automatic"})
open module io.softdpu.rdma.contract {
    requires transitive io.softdpu.rdma;
    requires transitive org.junit.jupiter.api;
    requires io.softdpu.testkit;
    requires org.assertj.core;
    requires org.junit.jupiter.params;
    requires jdk.management;
    requires static org.jspecify;

    exports io.softdpu.rdma.contract;
}
