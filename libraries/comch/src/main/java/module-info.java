/** Comm Channel between the host and the DPU: messages, and zero-copy producers and consumers. */
module io.softdpu.comch {
    requires transitive io.softdpu.core;
    requires io.softdpu.fabric;
    requires io.softdpu.linux;
    requires static org.jspecify;

    exports io.softdpu.comch;

    provides io.softdpu.core.capability.CapabilitySource with
            io.softdpu.comch.capability.ComchSources.Messages,
            io.softdpu.comch.capability.ComchSources.Producer,
            io.softdpu.comch.capability.ComchSources.Consumer;
}
