package io.softdpu.rdma.roce;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.roce.cm.PeerQueuePair;
import io.softdpu.rdma.roce.nic.NicEndpoint;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.spi.ConnectionBlob;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;

/**
 * Parameters of a queue pair, which two programs exchange by a way of their own: for a peer that
 * uses the verbs without connection management, as {@code ibv_rc_pingpong} does.
 *
 * <pre>{@code
 * RdmaConnection connection = rdma.exportConnection();
 * RoceQueuePair own = RoceQueuePair.of(connection);
 * RoceQueuePair peer = ...; // the program sends its own, and receives the peer's
 * rdma.connect(peer.blob(), connection);
 * }</pre>
 *
 * <p>What differs from a connection to an end of softdpu:
 *
 * <ul>
 *   <li>It is CONNECTED by the next progress, whether or not the peer is there: the peer is asked
 *       whether it lives only once it has sent a packet, and requests that it does not answer fail
 *       with their retries.
 *   <li>It ends on this side alone: a disconnect sends nothing, and that of the peer shows by its
 *       missing answers.
 *   <li>What the peer grants is not known: it refuses by a NAK, which ends the connection.
 *   <li>The peer's identity is its address: who can send from that, and learns the numbers, takes
 *       part.
 *   <li>The device's UDP port has to be 4791, as for connections by address.
 * </ul>
 *
 * <p>Immutable; any thread, but {@link #of} for that of the connection.
 *
 * @param gid address of the device
 * @param number of the queue pair, 2 to 2^24 - 1
 * @param firstPsn sequence number of the first request packet that the queue pair sends, 0 to 2^24
 *     - 1
 * @param pathMtuBytes largest payload of a packet in bytes: 256, 512, 1024, 2048 or 4096; both ends
 *     use the same one
 * @param readLimit number of reads and atomic operations that the queue pair answers at a time, 0
 *     to 255; {@code max_dest_rd_atomic} of the verbs
 */
public record RoceQueuePair(
        InetAddress gid, int number, int firstPsn, int pathMtuBytes, int readLimit) {
    private static final int FORM = 1;
    private static final int PROCESS_OFFSET = 32;
    private static final int PROCESS_BYTES = 16;
    private static final int WIRE_BYTES = PROCESS_OFFSET + PROCESS_BYTES;
    private static final int MAX_READ_LIMIT = 255;
    private static final Permissions ALL =
            Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC);

    /** In the blobs of this process: one that a peer has made up does not have it. */
    private static final byte[] PROCESS = new byte[PROCESS_BYTES];

    static {
        new SecureRandom().nextBytes(PROCESS);
    }

    private static final ValueLayout.OfShort U16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /**
     * Checks the numbers.
     *
     * @throws DpuException INVALID_VALUE naming the one that is illegal
     */
    public RoceQueuePair {
        Arguments.notNull(gid, "gid");
        RoceDetails.require(
                "queuePair", number, RoceDetails.MIN_QUEUE_PAIR, RoceDetails.MAX_QUEUE_PAIR);
        RoceDetails.require("firstPsn", firstPsn, 0, SequenceNumber.MAX);
        RoceDetails.requirePathMtu(pathMtuBytes);
        RoceDetails.require("readLimit", readLimit, 0, MAX_READ_LIMIT);
    }

    /**
     * The queue pair of a connection that was exported and not connected yet, for the peer's
     * program.
     *
     * @param exported the result of {@link io.softdpu.rdma.Rdma#exportConnection}
     * @return with the path MTU of its instance
     * @throws DpuException NOT_SUPPORTED if this provider does not serve the device, or for a
     *     connection by address; ALREADY_EXIST if the device has another UDP port than 4791, since
     *     that was in use when it was opened
     */
    public static RoceQueuePair of(RdmaConnection exported) {
        byte[] blob = Arguments.notNull(exported, "exported").blob();
        ConnectionBlob.Section section =
                blob.length == 0
                        ? null
                        : ConnectionBlob.decode(blob).sectionOf(RoceService.Provider.ID);
        if (section == null) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "connection has no queue pair of provider %s: connection=%s,"
                                    + " expected=one of exportConnection, of a device that the"
                                    + " provider serves",
                            RoceService.Provider.NAME, exported));
        }
        RoceDetails details = RoceDetails.decode(section.details());
        if (details.gid().port() != Headers.UDP_PORT) {
            throw new DpuException(
                    Status.ALREADY_EXIST,
                    Text.format(
                            "UDP port of RoCE v2, which connections by parameters need, was in use"
                                    + " when the device was opened: address=%s, expected=port %d",
                            details.gid(), Headers.UDP_PORT));
        }
        return new RoceQueuePair(
                inet(details.gid()),
                details.queuePair(),
                details.firstPsn(),
                details.pathMtuBytes(),
                NicEndpoint.RESPONDER_RESOURCES);
    }

    private static InetAddress inet(Gid gid) {
        try {
            return InetAddress.getByAddress(gid.addressBytes());
        } catch (UnknownHostException e) {
            throw new IllegalStateException("GID is no address: gid=" + gid, e);
        }
    }

    /**
     * Makes a blob for {@link io.softdpu.rdma.Rdma#connect(byte[], RdmaConnection)} with an
     * exported connection of this process, in place of one that the peer has exported; it is
     * refused in another process. That call throws, beside what it says, INVALID_VALUE for the
     * connection's own queue pair, or if the path MTU is larger than that of the instance, or than
     * the MTU that the device's interface has then has room for; NOT_SUPPORTED if the address is
     * not in the network of the device, or the instance has no provider over UDP; ALREADY_EXIST as
     * {@link #of}, or if a connection of the device has the peer's queue pair.
     */
    public byte[] blob() {
        return new ConnectionBlob(
                        ALL,
                        List.of(
                                new ConnectionBlob.Section(
                                        RoceService.Provider.ID,
                                        RoceService.Provider.NAME,
                                        encode())))
                .encode();
    }

    /**
     * The section of the blob.
     *
     * <pre>
     *  0  version     u16  2
     *  2  form        u16  1
     *  4  path MTU    u16  bytes
     *  6  read limit  u16
     *  8  GID         16 B IPv4 is mapped into IPv6
     * 24  queue pair  u32
     * 28  first PSN   u32
     * 32  process     16 B random, that of this process
     * </pre>
     *
     * All big-endian.
     */
    byte[] encode() {
        byte[] array = new byte[WIRE_BYTES];
        MemorySegment bytes = MemorySegment.ofArray(array);
        Gid address = Gid.ofAddress(gid.getAddress());
        bytes.set(U16, 0, (short) RoceDetails.VERSION);
        bytes.set(U16, 2, (short) FORM);
        bytes.set(U16, 4, (short) pathMtuBytes);
        bytes.set(U16, 6, (short) readLimit);
        bytes.set(U64, 8, address.high());
        bytes.set(U64, 16, address.low());
        bytes.set(U32, 24, number);
        bytes.set(U32, 28, firstPsn);
        System.arraycopy(PROCESS, 0, array, PROCESS_OFFSET, PROCESS_BYTES);
        return array;
    }

    /** Whether an untrusted section is of this form; throws as {@link RoceDetails#isOfForm}. */
    static boolean isOne(byte[] section) {
        return RoceDetails.isOfForm(section, FORM);
    }

    /**
     * Decodes an untrusted section.
     *
     * @throws DpuException INVALID_VALUE naming the illegal field, or if it was not made by this
     *     process; UNSUPPORTED_VERSION for another version
     */
    static RoceQueuePair decode(byte[] section) {
        byte[] copy = section.clone();
        MemorySegment bytes = MemorySegment.ofArray(copy);
        RoceDetails.requireForm(bytes, FORM);
        RoceDetails.require("sizeBytes", bytes.byteSize(), WIRE_BYTES, WIRE_BYTES);
        if (!MessageDigest.isEqual(Arrays.copyOfRange(copy, PROCESS_OFFSET, WIRE_BYTES), PROCESS)) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "roce connection details refused: parameters of a queue pair are of another"
                            + " process, expected=RoceQueuePair.blob() of this one");
        }
        return new RoceQueuePair(
                inet(new Gid(bytes.get(U64, 8), bytes.get(U64, 16))),
                bytes.get(U32, 24),
                bytes.get(U32, 28),
                Short.toUnsignedInt(bytes.get(U16, 4)),
                Short.toUnsignedInt(bytes.get(U16, 6)));
    }

    PeerQueuePair asPeer() {
        return new PeerQueuePair(
                Gid.ofAddress(gid.getAddress()), number, firstPsn, pathMtuBytes, readLimit);
    }
}
