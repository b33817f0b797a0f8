/** Asynchronous block devices: contexts whose tasks read, write and flush blocks. */
module io.softdpu.block {
    requires transitive io.softdpu.core;
    requires io.softdpu.linux;
    requires static org.jspecify;

    exports io.softdpu.block;
    exports io.softdpu.block.memory to
            io.softdpu.cli,
            io.softdpu.storage;
    exports io.softdpu.block.property;

    uses io.softdpu.block.spi.BlockProvider;

    provides io.softdpu.block.spi.BlockProvider with
            io.softdpu.block.memory.MemoryProvider,
            io.softdpu.block.memory.CopyProvider,
            io.softdpu.block.memory.NullProvider,
            io.softdpu.block.fault.FaultProvider,
            io.softdpu.block.file.FileProvider;
    provides io.softdpu.core.capability.CapabilitySource with
            io.softdpu.block.capability.BlockSource;
}
