package io.softdpu.storage;

/** The steps of a session, in their order; a role goes through those that concern it. */
public enum SessionStep {
    /** The target's port is open; the detail is {@code address:port}. */
    LISTENING,
    /** The service looks for its target. */
    CONNECTING_TO_STORAGE,
    /** The initiator looks for its service. */
    CONNECTING_TO_SERVICE,
    /** The target waits for its service, the service for its initiator. */
    WAITING_FOR_CLIENT,
    /** Whoever was waited for is there. */
    CONNECTED,
    /** The size of the storage is asked for or told. */
    QUERY,
    /** Memory is exported or imported, workers are made, RDMA contexts connected. */
    INIT,
    /** The data path is about to begin. */
    START,
    /** The data path runs. */
    DATA_PATH,
    /** The data path has been told to end. */
    STOP,
    /** The workers' objects are taken down. */
    SHUTDOWN
}
