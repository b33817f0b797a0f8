package io.softdpu.storage.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;

/** Purpose of each of the two RDMA connections of a worker. */
public enum RdmaConnectionRole {
    /** RDMA reads and writes of the initiator's memory by the target; unused by the service. */
    IO_DATA(0),

    /** Requests and responses, by send and receive tasks. */
    IO_CONTROL(1);

    private final int code;

    RdmaConnectionRole(int code) {
        this.code = code;
    }

    /** The number on the wire. */
    public int code() {
        return code;
    }

    /**
     * The role with this number.
     *
     * @throws DpuException INVALID_VALUE if no role has the number
     */
    public static RdmaConnectionRole ofCode(int code) {
        return switch (code) {
            case 0 -> IO_DATA;
            case 1 -> IO_CONTROL;
            default ->
                    throw new DpuException(
                            Status.INVALID_VALUE,
                            "role is unknown: role="
                                    + Integer.toUnsignedString(code)
                                    + ", expected=0 (io_data) or 1 (io_control)");
        };
    }
}
