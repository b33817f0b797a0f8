package io.softdpu.rdma;

/** Transports of an RDMA instance; the RDMA guide supports the first alone. */
public enum RdmaTransportType {
    /** Reliable connection: delivers in order, or fails. */
    RC,
    /** Dynamically connected transport. */
    DC
}
