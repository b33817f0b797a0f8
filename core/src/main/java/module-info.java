/** DOCA Core: devices, memory, and the execution model. */
module io.softdpu.core {
    requires static org.jspecify;

    exports io.softdpu.core;
    exports io.softdpu.core.device;
    exports io.softdpu.core.execution;
    exports io.softdpu.core.memory;
}
