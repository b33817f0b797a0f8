package io.softdpu.rdma.roce.capture;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;

/** First header of the frames of a capture, before tags of virtual LANs and IP. */
enum LinkType {
    /** Ethernet. */
    ETHERNET(14, 12),
    /** None: a frame is an IP packet of either version. */
    RAW_IP(0, 0),
    /** Header of Linux in place of that of the link, as of a capture on all interfaces. */
    LINUX_COOKED(16, 14),
    /** Its second version. */
    LINUX_COOKED_2(20, 0);

    /** The number of {@link #RAW_IP} in new files. */
    static final int RAW_IP_CODE = 101;

    /** Its size. */
    final int headerBytes;

    /** Offset of the type of what follows, as of Ethernet; none of {@link #RAW_IP}. */
    final int typeAt;

    LinkType(int headerBytes, int typeAt) {
        this.headerBytes = headerBytes;
        this.typeAt = typeAt;
    }

    /**
     * The link type of a number.
     *
     * @throws DpuException NOT_SUPPORTED for any other
     */
    static LinkType of(int code) {
        return switch (code) {
            case 1 -> ETHERNET;
            case 12, 14, RAW_IP_CODE, 228, 229 -> RAW_IP;
            case 113 -> LINUX_COOKED;
            case 276 -> LINUX_COOKED_2;
            default ->
                    throw new DpuException(
                            Status.NOT_SUPPORTED,
                            "link type of the capture is not supported: linkType="
                                    + code
                                    + ", expected=1 (Ethernet), 101 (raw IP), 113 or 276 (Linux"
                                    + " cooked)");
        };
    }
}
