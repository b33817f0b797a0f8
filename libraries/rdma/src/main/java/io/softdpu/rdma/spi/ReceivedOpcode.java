package io.softdpu.rdma.spi;

/** Operation of a peer that used up a posted receive. */
public enum ReceivedOpcode {
    /** A send. */
    SEND,
    /** A send that carried a 32-bit immediate value. */
    SEND_IMMEDIATE,
    /** A write that carried a 32-bit immediate value; the data went to where the write said. */
    WRITE_IMMEDIATE
}
