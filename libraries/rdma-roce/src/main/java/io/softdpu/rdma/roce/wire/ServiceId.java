package io.softdpu.rdma.roce.wire;

/**
 * Service ids of connection management: those of listeners by address, which consist of a protocol
 * and a port (InfiniBand Architecture Specification, annex A11).
 */
public final class ServiceId {
    /** The ids of listeners for connections by address: this and the port in the low 16 bits. */
    private static final long TCP_PORT_SPACE = 0x0106_0000L;

    private static final long PORT_MASK = 0xffff;

    private ServiceId() {}

    /**
     * The id of a listener.
     *
     * @param port 0 to 65,535
     */
    public static long ofPort(int port) {
        return TCP_PORT_SPACE | port;
    }

    /** Whether an id is one of {@link #ofPort}. */
    public static boolean isPort(long serviceId) {
        return (serviceId & ~PORT_MASK) == TCP_PORT_SPACE;
    }

    /** The port of such an id. */
    public static int port(long serviceId) {
        return (int) (serviceId & PORT_MASK);
    }
}
