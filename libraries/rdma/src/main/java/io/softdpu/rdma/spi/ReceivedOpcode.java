package io.softdpu.rdma.spi;

/** Operation of a peer that consumed a posted receive. */
public enum ReceivedOpcode {
    /** A send. */
    SEND,
    /** A send that carried a 32-bit immediate value. */
    SEND_IMMEDIATE,
    /** A write that carried a 32-bit immediate value; the data is at the write's destination. */
    WRITE_IMMEDIATE
}
