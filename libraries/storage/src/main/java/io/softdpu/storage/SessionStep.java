package io.softdpu.storage;

/** Steps of a session, in order; each role performs a subset. */
public enum SessionStep {
    /** The target's port is open; the detail is {@code address:port}. */
    LISTENING,
    /** The service connects to its target. */
    CONNECTING_TO_STORAGE,
    /** The initiator connects to its service. */
    CONNECTING_TO_SERVICE,
    /** The target waits for its service to connect, the service for its initiator. */
    WAITING_FOR_CLIENT,
    /** The awaited peer is connected; the detail describes it. */
    CONNECTED,
    /** The size of the storage is requested or sent. */
    QUERY,
    /** Memory is exported or imported, workers are created, RDMA contexts are connected. */
    INIT,
    /** The data path is started. */
    START,
    /** The data path runs. */
    DATA_PATH,
    /** The data path is stopped. */
    STOP,
    /** The workers' objects are destroyed. */
    SHUTDOWN
}
