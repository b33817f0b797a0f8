package io.softdpu.rdma;

/**
 * Operation of a peer that completed an {@link RdmaReceiveTask}, in the order of the DOCA numbers.
 *
 * <p>RDMA guide, receive task, output "result opcode".
 */
public enum RdmaOpcode {
    /** A send. */
    SEND,
    /** A send that carried a 32-bit immediate value. */
    SEND_IMMEDIATE,
    /** A write that carried a 32-bit immediate value; the data is at the write's destination. */
    WRITE_IMMEDIATE
}
