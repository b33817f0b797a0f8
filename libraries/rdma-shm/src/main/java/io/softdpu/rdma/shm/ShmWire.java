package io.softdpu.rdma.shm;

/**
 * Constants of the protocol between two shm connections; {@code docs/wire/rdma-shm.md} specifies
 * it. Layout of the region that a side exports:
 *
 * <pre>
 *   0  receive limit  u64  messages that have found a receive task, plus the posted ones
 *   8  reserved       zero
 * 128  a message ring, written by the peer
 * </pre>
 *
 * <p>The type of a ring message is an opcode in the low 8 bits and the two flags. The word of a
 * first fragment is the message's length (low half) and immediate (high half, big-endian), that of
 * a later one the offset of its bytes in the message.
 */
final class ShmWire {
    static final long RECEIVE_LIMIT_OFFSET = 0;
    static final long RING_OFFSET = 128;

    static final int OPCODE_MASK = 0xff;
    static final int OPCODE_HELLO = 1;
    static final int OPCODE_SEND = 2;
    static final int OPCODE_SEND_IMMEDIATE = 3;

    /** The data is written already; the message has its length, but no payload. */
    static final int OPCODE_WRITE_IMMEDIATE = 4;

    static final int FLAG_FIRST = 1 << 8;
    static final int FLAG_LAST = 1 << 9;

    /** Payload of a hello: version u32, reserved u32, key of the receiver, key of the sender. */
    static final int HELLO_BYTES = 40;

    static final int HELLO_VERSION = 1;
    static final long HELLO_RECEIVER_KEY_OFFSET = 8;
    static final long HELLO_SENDER_KEY_OFFSET = 24;

    /** Status word of the ring: the connection has not ended. */
    static final int STATUS_OK = 0;

    /** The owner has disconnected, or its context stops: an orderly end. */
    static final int STATUS_DISCONNECTED = 1;

    /** The message after the last released one did not fit its receive task. */
    static final int STATUS_RECEIVE_TOO_SMALL = 2;

    /** The owner detected a protocol violation in the ring, or a hello of another peer. */
    static final int STATUS_PROTOCOL_ERROR = 3;

    /** The owner's connection has failed for another reason. */
    static final int STATUS_FAILED = 4;

    /** Largest message, read or write: 1 GiB, as with the adapters of the guide. */
    static final long MAX_MESSAGE_BYTES = 1L << 30;

    private static final long LOW_HALF = 0xffff_ffffL;

    private ShmWire() {}

    static long firstWord(long lengthBytes, int immediate) {
        return (long) Integer.reverseBytes(immediate) << 32 | (lengthBytes & LOW_HALF);
    }

    static long messageLength(long firstWord) {
        return firstWord & LOW_HALF;
    }

    static int immediate(long firstWord) {
        return Integer.reverseBytes((int) (firstWord >>> 32));
    }
}
