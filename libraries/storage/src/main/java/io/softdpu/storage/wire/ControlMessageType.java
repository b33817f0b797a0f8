package io.softdpu.storage.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.Locale;

/** Type of a control message, in the order of the numbers on the wire. */
public enum ControlMessageType {
    /** Response: the request failed. Or a final error, without a request. */
    ERROR_RESPONSE(0),
    /** Request: size and block size of the storage. */
    QUERY_STORAGE_REQUEST(1),
    /** Response: size and block size of the storage. */
    QUERY_STORAGE_RESPONSE(2),
    /** Request: prepare for a number of transactions and workers, and for a memory. */
    INIT_STORAGE_REQUEST(3),
    /** Response: prepared. */
    INIT_STORAGE_RESPONSE(4),
    /** Request: connect one RDMA context of one worker. */
    CREATE_RDMA_CONNECTION_REQUEST(5),
    /** Response: connection details of the other side. */
    CREATE_RDMA_CONNECTION_RESPONSE(6),
    /** Request: start the data path. */
    START_STORAGE_REQUEST(7),
    /** Response: the data path was started. */
    START_STORAGE_RESPONSE(8),
    /** Request: stop the data path. */
    STOP_STORAGE_REQUEST(9),
    /** Response: the data path was stopped. */
    STOP_STORAGE_RESPONSE(10),
    /** Request: release all resources of the session. */
    SHUTDOWN_REQUEST(11),
    /** Response: shut down. */
    SHUTDOWN_RESPONSE(12),
    /** First message of a service, whose first request may follow much later. */
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

    /** The name in documents and messages, for example {@code query_storage_request}. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The type with this number.
     *
     * @throws DpuException INVALID_VALUE if no type has the number
     */
    public static ControlMessageType ofCode(int code) {
        if (code < 0 || code >= TYPES.length) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "message type is unknown: messageType="
                            + Integer.toUnsignedString(code)
                            + ", expected=0 to "
                            + (TYPES.length - 1));
        }
        return TYPES[code];
    }
}
