package io.softdpu.storage.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;

/** Payload of a control message, one record per type; the constructors reject illegal values. */
public sealed interface ControlPayload {

    /** The type that this payload belongs to. */
    ControlMessageType type();

    /**
     * Failure of a request, or of the session.
     *
     * @param errorCode the number of the status as received, so that it can be passed on verbatim
     * @param message the reason
     */
    record ErrorResponse(int errorCode, String message) implements ControlPayload {
        /** Creates an error with a status. */
        public static ErrorResponse of(Status status, String message) {
            return new ErrorResponse(status.code(), message);
        }

        /**
         * The status with that number; UNKNOWN for unknown numbers and for 0, which does not name a
         * failure.
         */
        public Status status() {
            Status status = Status.ofCode(errorCode);
            return status.isError() ? status : Status.UNKNOWN;
        }

        @Override
        public ControlMessageType type() {
            return ControlMessageType.ERROR_RESPONSE;
        }
    }

    /** Request for the size of the storage. */
    record QueryStorageRequest() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.QUERY_STORAGE_REQUEST;
        }
    }

    /**
     * The size of the storage.
     *
     * @param totalSizeBytes more than 0 and a multiple of the block size
     * @param blockSizeBytes more than 0
     */
    record QueryStorageResponse(long totalSizeBytes, int blockSizeBytes) implements ControlPayload {
        /** Checks the values; throws INVALID_VALUE, naming the field. */
        public QueryStorageResponse {
            requirePositive("blockSizeBytes", blockSizeBytes);
            if (totalSizeBytes <= 0 || totalSizeBytes % blockSizeBytes != 0) {
                throw invalid(
                        "totalSizeBytes",
                        Long.toUnsignedString(totalSizeBytes),
                        "a positive multiple of blockSizeBytes=" + blockSizeBytes);
            }
        }

        @Override
        public ControlMessageType type() {
            return ControlMessageType.QUERY_STORAGE_RESPONSE;
        }
    }

    /**
     * Request to prepare the data path.
     *
     * @param transactionCount transactions per worker, more than 0
     * @param coreCount number of workers, more than 0
     * @param mmapExport the initiator's memory: exported for PCI towards the service, for RDMA
     *     towards the target
     */
    record InitStorageRequest(int transactionCount, int coreCount, Blob mmapExport)
            implements ControlPayload {
        /** Checks the values; throws INVALID_VALUE, naming the field. */
        public InitStorageRequest {
            requirePositive("transactionCount", transactionCount);
            requirePositive("coreCount", coreCount);
            if (mmapExport.sizeBytes() == 0) {
                throw invalid("mmapExport", "0 bytes", "at least 1 byte");
            }
        }

        @Override
        public ControlMessageType type() {
            return ControlMessageType.INIT_STORAGE_REQUEST;
        }
    }

    /** Response to {@link InitStorageRequest}. */
    record InitStorageResponse() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.INIT_STORAGE_RESPONSE;
        }
    }

    /**
     * Request to connect an RDMA context.
     *
     * @param contextIndex index of the worker, from 0
     * @param role which of the two contexts of that worker
     * @param connectionDetails the requester's exported connection
     */
    record CreateRdmaConnectionRequest(
            int contextIndex, RdmaConnectionRole role, Blob connectionDetails)
            implements ControlPayload {
        /** Checks the values; throws INVALID_VALUE, naming the field. */
        public CreateRdmaConnectionRequest {
            requireConnection(contextIndex, connectionDetails);
        }

        @Override
        public ControlMessageType type() {
            return ControlMessageType.CREATE_RDMA_CONNECTION_REQUEST;
        }
    }

    /**
     * Response with the other end of an RDMA connection.
     *
     * @param contextIndex as in the request
     * @param role as in the request
     * @param connectionDetails the responder's exported connection
     */
    record CreateRdmaConnectionResponse(
            int contextIndex, RdmaConnectionRole role, Blob connectionDetails)
            implements ControlPayload {
        /** Checks the values; throws INVALID_VALUE, naming the field. */
        public CreateRdmaConnectionResponse {
            requireConnection(contextIndex, connectionDetails);
        }

        @Override
        public ControlMessageType type() {
            return ControlMessageType.CREATE_RDMA_CONNECTION_RESPONSE;
        }
    }

    /** Request to start the data path. */
    record StartStorageRequest() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.START_STORAGE_REQUEST;
        }
    }

    /** Response to {@link StartStorageRequest}. */
    record StartStorageResponse() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.START_STORAGE_RESPONSE;
        }
    }

    /** Request to stop the data path. */
    record StopStorageRequest() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.STOP_STORAGE_REQUEST;
        }
    }

    /** Response to {@link StopStorageRequest}. */
    record StopStorageResponse() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.STOP_STORAGE_RESPONSE;
        }
    }

    /** Request to release all resources of the session. */
    record ShutdownRequest() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.SHUTDOWN_REQUEST;
        }
    }

    /** Response to {@link ShutdownRequest}. */
    record ShutdownResponse() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.SHUTDOWN_RESPONSE;
        }
    }

    /**
     * Identifies a TCP client as a service. Not in the guide, and not part of a session: the
     * client's channel sends it as soon as it is connected, and the server's channel does not
     * forward it.
     */
    record Hello() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.HELLO;
        }
    }

    private static void requireConnection(int contextIndex, Blob details) {
        if (contextIndex < 0) {
            throw invalid("contextIndex", Integer.toUnsignedString(contextIndex), "below 2^31");
        }
        if (details.sizeBytes() == 0) {
            throw invalid("connectionDetails", "0 bytes", "at least 1 byte");
        }
    }

    private static void requirePositive(String field, int value) {
        if (value <= 0) {
            throw invalid(field, Integer.toUnsignedString(value), "1 to " + Integer.MAX_VALUE);
        }
    }

    private static DpuException invalid(String field, String found, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                "field of a control message is illegal: "
                        + field
                        + "="
                        + found
                        + ", expected="
                        + expected);
    }
}
