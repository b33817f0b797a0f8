package io.softdpu.storage.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;

/** What a control message says, one record a type; the constructors refuse illegal values. */
public sealed interface ControlPayload {

    /** The type that this payload belongs to. */
    ControlMessageType type();

    /**
     * A request failed.
     *
     * @param errorCode the number of the status as it came, so that it can be passed on verbatim
     * @param message the reason
     */
    record ErrorResponse(int errorCode, String message) implements ControlPayload {
        /** An error with a status. */
        public static ErrorResponse of(Status status, String message) {
            return new ErrorResponse(status.code(), message);
        }

        /**
         * The status with that number; UNKNOWN where there is none, and for 0, since a peer that
         * reports a failure as a success has not said which failure it was.
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

    /** Asks for the size of the storage. */
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
        /** Checks the values: INVALID_VALUE that names the field. */
        public QueryStorageResponse {
            requirePositive("block_size", blockSizeBytes);
            if (totalSizeBytes <= 0 || totalSizeBytes % blockSizeBytes != 0) {
                throw invalid(
                        "total_size",
                        Long.toUnsignedString(totalSizeBytes),
                        "a positive multiple of block_size=" + blockSizeBytes);
            }
        }

        @Override
        public ControlMessageType type() {
            return ControlMessageType.QUERY_STORAGE_RESPONSE;
        }
    }

    /**
     * Prepare the data path.
     *
     * @param transactionCount transactions a core, more than 0
     * @param coreCount data path threads, more than 0
     * @param mmapExport the initiator's memory: exported for PCI towards the service, for RDMA
     *     towards the target
     */
    record InitStorageRequest(int transactionCount, int coreCount, Blob mmapExport)
            implements ControlPayload {
        /** Checks the values: INVALID_VALUE that names the field. */
        public InitStorageRequest {
            requirePositive("transaction_count", transactionCount);
            requirePositive("core_count", coreCount);
            if (mmapExport.sizeBytes() == 0) {
                throw invalid("mmap_export", "0 bytes", "at least 1 byte");
            }
        }

        @Override
        public ControlMessageType type() {
            return ControlMessageType.INIT_STORAGE_REQUEST;
        }
    }

    /** The data path is prepared. */
    record InitStorageResponse() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.INIT_STORAGE_RESPONSE;
        }
    }

    /**
     * Connect an RDMA context.
     *
     * @param contextIndex the core, counted from 0
     * @param role which of the two contexts of that core
     * @param connectionDetails the requester's exported connection
     */
    record CreateRdmaConnectionRequest(
            int contextIndex, RdmaConnectionRole role, Blob connectionDetails)
            implements ControlPayload {
        /** Checks the values: INVALID_VALUE that names the field. */
        public CreateRdmaConnectionRequest {
            requireConnection(contextIndex, connectionDetails);
        }

        @Override
        public ControlMessageType type() {
            return ControlMessageType.CREATE_RDMA_CONNECTION_REQUEST;
        }
    }

    /**
     * The other end of an RDMA connection.
     *
     * @param contextIndex as in the request
     * @param role as in the request
     * @param connectionDetails the responder's exported connection
     */
    record CreateRdmaConnectionResponse(
            int contextIndex, RdmaConnectionRole role, Blob connectionDetails)
            implements ControlPayload {
        /** Checks the values: INVALID_VALUE that names the field. */
        public CreateRdmaConnectionResponse {
            requireConnection(contextIndex, connectionDetails);
        }

        @Override
        public ControlMessageType type() {
            return ControlMessageType.CREATE_RDMA_CONNECTION_RESPONSE;
        }
    }

    /** Begin the data path. */
    record StartStorageRequest() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.START_STORAGE_REQUEST;
        }
    }

    /** The data path has begun. */
    record StartStorageResponse() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.START_STORAGE_RESPONSE;
        }
    }

    /** End the data path. */
    record StopStorageRequest() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.STOP_STORAGE_REQUEST;
        }
    }

    /** The data path has ended. */
    record StopStorageResponse() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.STOP_STORAGE_RESPONSE;
        }
    }

    /** Take everything down. */
    record ShutdownRequest() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.SHUTDOWN_REQUEST;
        }
    }

    /** Everything is down. */
    record ShutdownResponse() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.SHUTDOWN_RESPONSE;
        }
    }

    /**
     * A TCP client is a service. Not in the guide, and not part of a session: the client's channel
     * says it as soon as it is connected, and the server's keeps it to itself.
     */
    record Hello() implements ControlPayload {
        @Override
        public ControlMessageType type() {
            return ControlMessageType.HELLO;
        }
    }

    private static void requireConnection(int contextIndex, Blob details) {
        if (contextIndex < 0) {
            throw invalid("context_idx", Integer.toUnsignedString(contextIndex), "below 2^31");
        }
        if (details.sizeBytes() == 0) {
            throw invalid("connection_details", "0 bytes", "at least 1 byte");
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
                field + " is illegal: " + field + "=" + found + ", expected=" + expected);
    }
}
