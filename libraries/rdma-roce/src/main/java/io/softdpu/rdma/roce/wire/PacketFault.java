package io.softdpu.rdma.roce.wire;

/** Reason for which a datagram is no packet; such a one is dropped and counted. */
public enum PacketFault {
    /** It ends within its headers. */
    SHORT,
    /** It is longer than any packet. */
    LONG,
    /** Its length is no multiple of four. */
    UNALIGNED,
    /** It has another version of the base transport header. */
    VERSION,
    /** It has an opcode that softdpu does not know. */
    OPCODE,
    /** It has another partition key. */
    PARTITION_KEY,
    /** It has a payload where its opcode has none, or more padding than bytes. */
    PAYLOAD
}
