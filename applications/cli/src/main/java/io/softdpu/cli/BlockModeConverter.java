package io.softdpu.cli;

import io.softdpu.perf.block.BlockMode;

/** Parses a kind of measurement of a block device. */
final class BlockModeConverter extends WordConverter<BlockMode> {
    /** For picocli. */
    public BlockModeConverter() {
        super(BlockMode.class, BlockMode::word, "no such measurement", "measurement");
    }
}
