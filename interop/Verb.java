/** Operation of a request, in the order of {@code enum ibv_wr_opcode}. */
enum Verb {
    WRITE,
    WRITE_IMM,
    SEND,
    SEND_IMM,
    READ,
    CMP_SWAP,
    FETCH_ADD;

    boolean isAtomic() {
        return this == CMP_SWAP || this == FETCH_ADD;
    }

    boolean needsReceive() {
        return this == WRITE_IMM || this == SEND || this == SEND_IMM;
    }

    boolean hasImmediate() {
        return this == WRITE_IMM || this == SEND_IMM;
    }
}
