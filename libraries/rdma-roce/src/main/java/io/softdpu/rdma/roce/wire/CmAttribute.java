package io.softdpu.rdma.roce.wire;

import org.jspecify.annotations.Nullable;

/**
 * Kinds of connection messages, by their attribute (InfiniBand Architecture Specification, volume
 * 1, table 98). softdpu uses the first seven.
 */
public enum CmAttribute {
    /** Request of a connection. */
    REQ(0x10),
    /** Message receipt acknowledgement: more time is needed. */
    MRA(0x11),
    /** Rejection. */
    REJ(0x12),
    /** Reply to a request, which accepts it. */
    REP(0x13),
    /** Ready to use: the answer to a reply. */
    RTU(0x14),
    /** Request of the end of a connection. */
    DREQ(0x15),
    /** Reply to such a request. */
    DREP(0x16),
    /** Request of the queue pair of a service. */
    SIDR_REQ(0x17),
    /** Reply to such a request. */
    SIDR_REP(0x18),
    /** Request of an alternate path. */
    LAP(0x19),
    /** Reply to such a request. */
    APR(0x1a);

    private final int code;

    CmAttribute(int code) {
        this.code = code;
    }

    /**
     * The kind of an attribute.
     *
     * @return null if there is none
     */
    public static @Nullable CmAttribute of(int code) {
        int index = code - REQ.code;
        return index < 0 || index >= values().length ? null : values()[index];
    }

    /** The attribute in messages. */
    public int code() {
        return code;
    }
}
