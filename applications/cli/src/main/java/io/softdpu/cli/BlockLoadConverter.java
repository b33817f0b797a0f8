package io.softdpu.cli;

import io.softdpu.perf.block.BlockLoad;

/** Parses an operation of a block device. */
final class BlockLoadConverter extends WordConverter<BlockLoad> {
    /** For picocli. */
    public BlockLoadConverter() {
        super(BlockLoad.class, BlockLoad::word, "no such operation", "op");
    }
}
