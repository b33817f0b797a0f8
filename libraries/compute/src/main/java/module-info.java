/** The acceleration libraries: DMA, a context whose tasks and jobs copy memory. */
module io.softdpu.compute {
    requires transitive io.softdpu.core;
    requires static org.jspecify;

    exports io.softdpu.compute;

    provides io.softdpu.core.capability.CapabilitySource with
            io.softdpu.compute.capability.DmaSource;
}
