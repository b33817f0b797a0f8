package io.softdpu.core;

/**
 * The outcome of a call or of a task: the 32 DOCA status codes, in their order.
 *
 * <p>The codes 0 to 26 are those of the Core programming guide (section {@code doca_error_t}), 27
 * to 31 were added by later releases. {@link #code()} is the number that travels on the wire, for
 * example in the result field of a storage message; it never changes.
 */
public enum Status {
    /** The call succeeded, or the task completed. */
    SUCCESS(0, "success"),
    /** An unknown failure. */
    UNKNOWN(1, "unknown error"),
    /** The operation is not permitted. */
    NOT_PERMITTED(2, "operation not permitted"),
    /** The resource is already in use. */
    IN_USE(3, "resource already in use"),
    /** The operation is not supported. */
    NOT_SUPPORTED(4, "operation not supported"),
    /** The resource is temporarily unavailable: try again. */
    AGAIN(5, "resource temporarily unavailable, try again"),
    /** An argument or a message is invalid. */
    INVALID_VALUE(6, "invalid input"),
    /** No memory, or no free element in a pool that was created at start. */
    NO_MEMORY(7, "memory allocation failure"),
    /** A resource could not be initialised. */
    INITIALIZATION(8, "resource initialisation failure"),
    /** The timeout is over. */
    TIME_OUT(9, "timer expired waiting for resource"),
    /** Shutting down, or shut down already. */
    SHUTDOWN(10, "shut down in process or completed"),
    /** The peer closed the connection or ended. */
    CONNECTION_RESET(11, "connection reset by peer"),
    /** The connection was aborted on this side. */
    CONNECTION_ABORTED(12, "connection aborted"),
    /** The connection is being established. */
    CONNECTION_INPROGRESS(13, "connection in progress"),
    /** There is no connection. */
    NOT_CONNECTED(14, "not connected"),
    /** A lock could not be obtained. */
    NO_LOCK(15, "unable to acquire required lock"),
    /** There is no such resource. */
    NOT_FOUND(16, "resource not found"),
    /** An input or output operation failed. */
    IO_FAILED(17, "input/output operation failed"),
    /** The object's state does not allow the call. */
    BAD_STATE(18, "bad state"),
    /** The version is not supported. */
    UNSUPPORTED_VERSION(19, "unsupported version"),
    /** A call to the operating system failed. */
    OPERATING_SYSTEM(20, "operating system call failure"),
    /** A call to a driver failed. */
    DRIVER(21, "driver call failure"),
    /** An unexpected condition. */
    UNEXPECTED(22, "an unexpected scenario was detected"),
    /** The resource exists already. */
    ALREADY_EXIST(23, "resource already exists"),
    /** The resource has no more space. */
    FULL(24, "no more space in resource"),
    /** The resource has no entry. */
    EMPTY(25, "no entry is available in resource"),
    /** The operation is in progress. */
    IN_PROGRESS(26, "operation is in progress"),
    /** The request is larger than what is allowed. */
    TOO_BIG(27, "requested operation too big"),
    /** The peer could not be authenticated. */
    AUTHENTICATION(28, "authentication failure"),
    /** The configuration is wrong, or two configurations do not match. */
    BAD_CONFIG(29, "bad configuration"),
    /** The operation was skipped. */
    SKIPPED(30, "operation skipped"),
    /** The device has failed and must be opened again. */
    DEVICE_FATAL_ERROR(31, "device fatal error");

    private static final Status[] BY_CODE = values();

    private final int code;
    private final String description;

    Status(int code, String description) {
        this.code = code;
        this.description = description;
    }

    /** The DOCA number of this status, 0 to 31. */
    public int code() {
        return code;
    }

    /** A short description in lower case. */
    public String description() {
        return description;
    }

    /** True for each status but {@link #SUCCESS}. */
    public boolean isError() {
        return this != SUCCESS;
    }

    /**
     * The status with this number. A number may come from a peer of a later release, so an unknown
     * one is {@link #UNKNOWN} and not an exception.
     */
    public static Status ofCode(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : UNKNOWN;
    }
}
