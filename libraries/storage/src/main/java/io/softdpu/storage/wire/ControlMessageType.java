package io.softdpu.storage.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.Locale;

/** The kinds of control message, in the order of their numbers on the wire. */
public enum ControlMessageType {
    /** Whatever was asked for failed. */
    ERROR_RESPONSE(0),
    /** How large is the storage? */
    QUERY_STORAGE_REQUEST(1),
    /** So large. */
    QUERY_STORAGE_RESPONSE(2),
    /** Prepare for that many transactions and cores, and for this memory. */
    INIT_STORAGE_REQUEST(3),
    /** Prepared. */
    INIT_STORAGE_RESPONSE(4),
    /** Connect one RDMA context of one core. */
    CREATE_RDMA_CONNECTION_REQUEST(5),
    /** The other end's details. */
    CREATE_RDMA_CONNECTION_RESPONSE(6),
    /** Begin the data path. */
    START_STORAGE_REQUEST(7),
    /** The data path has begun. */
    START_STORAGE_RESPONSE(8),
    /** End the data path. */
    STOP_STORAGE_REQUEST(9),
    /** The data path has ended. */
    STOP_STORAGE_RESPONSE(10),
    /** Take everything down. */
    SHUTDOWN_REQUEST(11),
    /** All is down. */
    SHUTDOWN_RESPONSE(12),
    /** Here is a service, which may have nothing to ask for a while. */
    HELLO(13);

    private static final ControlMessageType[] TYPES = values();

    private final int code;

    ControlMessageType(int code) {
        this.code = code;
    }

    /** The number on the wire. */
    public int code() {
        return code;
    }

    /** The name as the documents write it, for example {@code query_storage_request}. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The type with this number.
     *
     * @throws DpuException INVALID_VALUE where no type has the number
     */
    public static ControlMessageType ofCode(int code) {
        if (code < 0 || code >= TYPES.length) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "message_type is unknown: message_type="
                            + Integer.toUnsignedString(code)
                            + ", expected=0 to "
                            + (TYPES.length - 1));
        }
        return TYPES[code];
    }
}
