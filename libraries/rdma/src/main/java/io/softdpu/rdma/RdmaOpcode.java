package io.softdpu.rdma;

/**
 * What a peer did that a {@link RdmaReceiveTask} was used up for, in the order of the DOCA numbers.
 *
 * <p>RDMA guide, receive task, output "result opcode".
 */
public enum RdmaOpcode {
    /** A send. */
    SEND,
    /** A send that carried a 32-bit immediate value. */
    SEND_IMMEDIATE,
    /** A write that carried a 32-bit immediate value; the data went to where the write said. */
    WRITE_IMMEDIATE
}
