package io.softdpu.rdma.roce.capture;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;

/** First header of the frames of a capture. */
enum LinkType {
    /** Ethernet, also with tags of virtual LANs. */
    ETHERNET,
    /** IP of either version. */
    RAW_IP;

    /**
     * The link type of a number.
     *
     * @throws DpuException NOT_SUPPORTED for any other
     */
    static LinkType of(int code) {
        return switch (code) {
            case 1 -> ETHERNET;
            case 12, 14, 101, 228, 229 -> RAW_IP;
            default ->
                    throw new DpuException(
                            Status.NOT_SUPPORTED,
                            "link type of the capture is not supported: linkType="
                                    + code
                                    + ", expected=1 (Ethernet) or 101 (raw IP)");
        };
    }
}
