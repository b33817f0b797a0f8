package io.softdpu.rdma.roce.wire;

/**
 * Service ids of connection management: those of listeners by address, which consist of a protocol
 * and a port (InfiniBand Architecture Specification, annex A11), and the one of connections by
 * blob, of those that every machine may assign (volume 1, annex A3).
 */
public final class ServiceId {
    /** The id of connections by blob, whose private data is the two keys of their ends. */
    public static final long BLOB = 0x0273_6f66_7464_7075L; // 02, and "softdpu" in ASCII

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
