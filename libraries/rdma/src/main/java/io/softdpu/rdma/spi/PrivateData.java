package io.softdpu.rdma.spi;

/**
 * Limits of the private data that programs exchange while they connect by address: those of the
 * RDMA connection manager, so that a program's data fits every provider.
 */
public final class PrivateData {
    /** Limit of the data of a request, in bytes. */
    public static final int CONNECT_BYTES = 56;

    /** Limit of the data of an answer that accepts, in bytes. */
    public static final int ACCEPT_BYTES = 196;

    /** Limit of the data of an answer that rejects, in bytes. */
    public static final int REJECT_BYTES = 148;

    private PrivateData() {}
}
