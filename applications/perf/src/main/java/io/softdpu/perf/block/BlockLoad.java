package io.softdpu.perf.block;

import io.softdpu.perf.text.Word;

/** Operation of which the load of a block device consists. */
public enum BlockLoad implements Word {
    /** Blocks are read. */
    READ,
    /** Blocks are written. */
    WRITE,
    /** The device is flushed, without writes between. */
    FLUSH
}
