package io.softdpu.block.spi;

/** Operation of a request. */
public enum BlockOperation {
    /** Copy blocks to memory. */
    READ,
    /** Copy memory to blocks. */
    WRITE,
    /** Make all completed writes durable. */
    FLUSH,
    /** Give blocks up: their bytes are unspecified, old ones or zeros, until the next write. */
    DISCARD,
    /** Fill blocks with zeros. */
    WRITE_ZEROES,
    /** Tell which blocks are allocated. */
    EXTENTS
}
