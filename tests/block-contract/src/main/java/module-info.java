/** Contract of block devices, as abstract JUnit classes on their public API. */
@SuppressWarnings({"module", "requires-automatic"})
open module io.softdpu.block.contract {
    requires transitive io.softdpu.block;
    requires transitive org.junit.jupiter.api;
    requires io.softdpu.junit;
    requires io.softdpu.testkit;
    requires org.assertj.core;
    requires org.junit.jupiter.params;
    requires static org.jspecify;

    exports io.softdpu.block.contract;
}
