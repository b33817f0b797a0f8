/** The acceleration libraries: contexts whose tasks and jobs copy memory (DMA) or hash it (SHA). */
module io.softdpu.compute {
    requires transitive io.softdpu.core;
    requires io.softdpu.linux;
    requires static org.jspecify;

    exports io.softdpu.compute;

    provides io.softdpu.core.capability.CapabilitySource with
            io.softdpu.compute.capability.DmaSource,
            io.softdpu.compute.capability.ShaSource;
}
