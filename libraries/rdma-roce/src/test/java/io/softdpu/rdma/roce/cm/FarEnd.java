package io.softdpu.rdma.roce.cm;

import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.CmMessage.About;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.IpAddressing;
import io.softdpu.rdma.roce.wire.RejectReason;
import io.softdpu.rdma.roce.wire.ServiceId;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Messages of a peer, each made by hand, to one connection.
 *
 * @param gid address of the peer
 * @param near address of this side
 * @param guid that the peer states
 * @param id number that the peer gives to the connection
 * @param queuePair of the peer
 */
public record FarEnd(Gid gid, Gid near, long guid, int id, int queuePair) {
    /** Of the listener that it requests. */
    public static final int PORT = 7174;

    /** That its REQ asks for. */
    public static final int PATH_MTU_BYTES = 1024;

    /** As Linux makes it of a MAC address. */
    public static final long LINUX_GUID = 0x0000_00ff_fe77_0003L;

    static final long TRANSACTION = 0x1234_5678_9abcL;

    /** Of its first packet. */
    public static final int PSN = 0xabcdef;

    static FarEnd linux(CmEnd near) {
        return new FarEnd(CmEnd.address(0x99), near.gid, LINUX_GUID, 0x7777_0001, 0x99);
    }

    FarEnd withGid(Gid other) {
        return new FarEnd(other, near, guid, id, queuePair);
    }

    FarEnd withGuid(long other) {
        return new FarEnd(gid, near, other, id, queuePair);
    }

    /** The same with another number of the connection. */
    public FarEnd withId(int other) {
        return new FarEnd(gid, near, guid, other, queuePair);
    }

    /** The same with another queue pair. */
    public FarEnd withQueuePair(int other) {
        return new FarEnd(gid, near, guid, id, other);
    }

    /** A REQ to {@link #PORT}. */
    public CmMessage.Req req(byte[] data) {
        byte[] addressed =
                new IpAddressing(50_000, gid.addressBytes(), near.addressBytes()).encode(data);
        return req(ServiceId.ofPort(PORT), addressed);
    }

    /** A REQ to {@link #PORT} that asks for a path MTU by its code. */
    public CmMessage.Req reqOfPathMtu(int code) {
        CmMessage.Req plain = req(new byte[0]);
        return req(plain.serviceId(), plain.privateData(), 20, code);
    }

    /** A REQ of a connection by blob. */
    CmMessage.Req req(ConnectKey own, ConnectKey peers) {
        byte[] keys = new byte[2 * ConnectKey.WIRE_BYTES];
        own.encode(MemorySegment.ofArray(keys), 0);
        peers.encode(MemorySegment.ofArray(keys), ConnectKey.WIRE_BYTES);
        return req(ServiceId.BLOB, keys);
    }

    CmMessage.Req req(long serviceId, byte[] privateData) {
        return req(serviceId, privateData, 20, EndGuid.mtuCode(PATH_MTU_BYTES));
    }

    CmMessage.Req req(long serviceId, byte[] privateData, int period, int pathMtu) {
        return new CmMessage.Req(
                TRANSACTION,
                id,
                serviceId,
                guid,
                0,
                queuePair,
                4,
                2,
                period,
                false,
                PSN,
                20,
                7,
                0xffff,
                pathMtu,
                7,
                15,
                false,
                new CmMessage.Path(
                        0xffff, 0xffff, gid.bytes(), near.bytes(), 1, 0, 0, 64, 0, false, 19),
                privateData);
    }

    /** A REP. */
    public CmMessage.Rep rep(int remoteId, byte[] data) {
        return new CmMessage.Rep(
                TRANSACTION,
                id,
                remoteId,
                0,
                queuePair,
                PSN,
                4,
                2,
                15,
                0,
                false,
                6,
                false,
                guid,
                data);
    }

    /** An RTU. */
    public CmMessage.Rtu rtu(int remoteId) {
        return new CmMessage.Rtu(TRANSACTION, id, remoteId, new byte[0]);
    }

    /** A REJ. */
    public CmMessage.Rej rej(int remoteId, About about, int reason, byte[] data) {
        return new CmMessage.Rej(TRANSACTION, id, remoteId, about, reason, new byte[0], data);
    }

    /** The end of a REQ without an answer, as Linux sends it. */
    CmMessage.Rej givenUp() {
        byte[] information = new byte[Long.BYTES];
        MemorySegment.ofArray(information)
                .set(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), 0, guid);
        return new CmMessage.Rej(
                TRANSACTION, id, 0, About.OTHER, RejectReason.TIMEOUT, information, new byte[0]);
    }

    CmMessage.Mra mra(int remoteId, About about, int serviceTimeout) {
        return new CmMessage.Mra(TRANSACTION, id, remoteId, about, serviceTimeout, new byte[0]);
    }

    CmMessage.Dreq dreq(int remoteId, int remoteQueuePair) {
        return new CmMessage.Dreq(TRANSACTION, id, remoteId, remoteQueuePair, new byte[0]);
    }

    CmMessage.Drep drep(int remoteId) {
        return new CmMessage.Drep(TRANSACTION, id, remoteId, new byte[0]);
    }

    /** Any message about a connection, with illegal and unexpected ones among them. */
    public CmMessage any(SeededRandom random, int remoteId, int remoteQueuePair) {
        byte[] data = {};
        About about = random.oneOf(About.values());
        return switch (random.nextInt(9)) {
            case 0, 1 -> req(data);
            case 2 -> rep(remoteId, data);
            case 3 -> rtu(remoteId);
            case 4 -> rej(remoteId, about, random.nextInt(40), data);
            case 5 -> givenUp();
            case 6 -> mra(remoteId, about, random.nextInt(32));
            case 7 -> dreq(remoteId, remoteQueuePair);
            default -> drep(remoteId);
        };
    }
}
