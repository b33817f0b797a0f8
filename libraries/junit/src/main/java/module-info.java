/** Test fixture: host, DPU and target side of a card in one test, or in several processes. */
module io.softdpu.junit {
    requires transitive io.softdpu.core;
    requires transitive org.junit.jupiter.api;
    requires io.softdpu.linux;
    requires static org.jspecify;

    exports io.softdpu.junit;
}
