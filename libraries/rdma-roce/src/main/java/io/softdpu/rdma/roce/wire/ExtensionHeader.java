package io.softdpu.rdma.roce.wire;

/**
 * Header between the base transport header and the payload (InfiniBand Architecture Specification,
 * volume 1, section 9.3). A packet has those of its {@link Opcode}, in the order of this enum.
 */
public enum ExtensionHeader {
    /** Datagram header: queue key and source queue pair. */
    DETH(8),
    /** RDMA header: address, key and length of remote memory. */
    RETH(16),
    /** Atomic header: address, key and operands. */
    ATOMIC_ETH(28),
    /** Acknowledgement header: syndrome and message sequence number. */
    AETH(4),
    /** Result of an atomic operation: the value before it. */
    ATOMIC_ACK_ETH(8),
    /** Immediate data. */
    IMMEDIATE(4),
    /** Key that the receiver is to invalidate. */
    INVALIDATE(4);

    private final int bytes;

    ExtensionHeader(int bytes) {
        this.bytes = bytes;
    }

    /** Its size. */
    public int bytes() {
        return bytes;
    }
}
