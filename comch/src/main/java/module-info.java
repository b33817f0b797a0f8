/**
 * The Comm Channel between the host and the DPU: messages, and zero-copy producers and consumers.
 */
module io.softdpu.comch {
    requires transitive io.softdpu.core;
    requires io.softdpu.fabric;
    requires static org.jspecify;

    exports io.softdpu.comch;
}
