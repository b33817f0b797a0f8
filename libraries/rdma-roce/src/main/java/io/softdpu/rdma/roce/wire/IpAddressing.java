package io.softdpu.rdma.roce.wire;

import io.softdpu.core.DpuException;
import io.softdpu.rdma.spi.PrivateData;
import java.util.Arrays;

/**
 * IP addressing header, at the beginning of the private data of a REQ whose service id is a port
 * (InfiniBand Architecture Specification, annex A11).
 *
 * <pre>
 *  0 version 0: major, minor   1 IP version, reserved   2 source port
 *  4 source address (16)      20 destination address (16); IPv4 in the last four bytes
 * 36 private data of the program, 56 bytes
 * </pre>
 *
 * <p>Immutable but for its arrays, which belong to it; any thread.
 *
 * @param sourcePort of the requesting program, 0 to 65,535
 * @param source 4 or 16 bytes
 * @param destination as many as of the source
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record IpAddressing(int sourcePort, byte[] source, byte[] destination) {
    /** Size of the header. */
    public static final int WIRE_BYTES = 36;

    private static final int IPV4 = 4;
    private static final int IPV6 = 6;
    private static final int IPV4_BYTES = 4;
    private static final int IPV6_BYTES = 16;
    private static final int VERSION_OFFSET = 1;
    private static final int PORT_OFFSET = 2;
    private static final int SOURCE_OFFSET = 4;
    private static final int DESTINATION_OFFSET = SOURCE_OFFSET + IPV6_BYTES;

    /**
     * Checks the sizes.
     *
     * @throws IllegalArgumentException if the addresses are not of one IP version
     */
    public IpAddressing {
        boolean sized = source.length == IPV4_BYTES || source.length == IPV6_BYTES;
        if (!sized || destination.length != source.length) {
            throw new IllegalArgumentException(
                    "addresses have an illegal size: sourceBytes="
                            + source.length
                            + ", destinationBytes="
                            + destination.length
                            + ", expected=4 or 16 both");
        }
    }

    /**
     * The private data of a REQ: this header and data of the program.
     *
     * @param programData at most {@link PrivateData#CONNECT_BYTES}
     * @throws IllegalArgumentException if it is longer
     */
    public byte[] encode(byte[] programData) {
        if (programData.length > PrivateData.CONNECT_BYTES) {
            throw new IllegalArgumentException(
                    "private data is too long: sizeBytes="
                            + programData.length
                            + ", limit="
                            + PrivateData.CONNECT_BYTES);
        }
        byte[] bytes = new byte[WIRE_BYTES + programData.length];
        int skipped = IPV6_BYTES - source.length;
        bytes[VERSION_OFFSET] = (byte) ((skipped == 0 ? IPV6 : IPV4) << 4);
        bytes[PORT_OFFSET] = (byte) (sourcePort >>> 8);
        bytes[PORT_OFFSET + 1] = (byte) sourcePort;
        System.arraycopy(source, 0, bytes, SOURCE_OFFSET + skipped, source.length);
        System.arraycopy(destination, 0, bytes, DESTINATION_OFFSET + skipped, source.length);
        System.arraycopy(programData, 0, bytes, WIRE_BYTES, programData.length);
        return bytes;
    }

    /**
     * Decodes the header of an untrusted REQ.
     *
     * @param privateData of the REQ, at least {@link #WIRE_BYTES}
     * @throws DpuException INVALID_VALUE naming the illegal field
     */
    public static IpAddressing decode(byte[] privateData) {
        int version = Byte.toUnsignedInt(privateData[0]);
        if (version != 0) {
            throw CmCodec.refused("version of the IP addressing header", version, 0);
        }
        int ip = Byte.toUnsignedInt(privateData[VERSION_OFFSET]) >>> 4;
        if (ip != IPV4 && ip != IPV6) {
            throw CmCodec.refused("IP version", ip, "4 or 6");
        }
        int skipped = ip == IPV4 ? IPV6_BYTES - IPV4_BYTES : 0;
        return new IpAddressing(
                Byte.toUnsignedInt(privateData[PORT_OFFSET]) << 8
                        | Byte.toUnsignedInt(privateData[PORT_OFFSET + 1]),
                Arrays.copyOfRange(privateData, SOURCE_OFFSET + skipped, DESTINATION_OFFSET),
                Arrays.copyOfRange(privateData, DESTINATION_OFFSET + skipped, WIRE_BYTES));
    }

    /**
     * The program's part of the private data of a REQ.
     *
     * @param privateData of the REQ, at least {@link #WIRE_BYTES}
     */
    public static byte[] programData(byte[] privateData) {
        return Arrays.copyOfRange(privateData, WIRE_BYTES, privateData.length);
    }
}
