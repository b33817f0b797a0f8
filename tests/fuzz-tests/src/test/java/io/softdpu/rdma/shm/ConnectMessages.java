package io.softdpu.rdma.shm;

import io.softdpu.core.memory.Permissions;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.fuzz.Refused;
import io.softdpu.rdma.spi.PrivateData;
import io.softdpu.rdma.spi.RnrTimer;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/** Messages by which connections by address are requested and answered. */
public final class ConnectMessages {
    private static final int ROUTE_OFFSET = ConnectMessage.HEADER_BYTES;
    private static final int GID_BYTES = 16;

    private ConnectMessages() {}

    /** Decodes a payload in both ways: at most one takes it. */
    public static void check(byte[] payload) {
        ConnectMessage request = Refused.orValue(() -> ConnectMessage.decodeRequest(payload));
        ConnectMessage answer = Refused.orValue(() -> ConnectMessage.decodeAnswer(payload));
        if (request != null && answer != null) {
            throw new AssertionError("both a request and an answer: kind=" + answer.kind());
        }
        ConnectMessage message = request != null ? request : answer;
        if (message != null) {
            Refused.requireSame("connect message", payload, message.encode());
        }
    }

    /** Encodes a message and decodes it again. */
    public static void checkFields(
            int kind,
            int permissions,
            byte[] source,
            byte[] destination,
            int port,
            byte[] privateData) {
        ShmDetails details =
                new ShmDetails(
                        ShmConnection.GEOMETRY,
                        new ShmDetails.Key(1, 2),
                        new RegionAddress(
                                new RegionAddress.Id(3, 4),
                                new RegionAddress.Id(5, 6),
                                new RegionAddress.Id(7, 8),
                                9,
                                new RegionAddress.Id(10, 11),
                                ShmDetails.regionBytes(ShmConnection.GEOMETRY)),
                        1024,
                        RnrTimer.LONGEST);
        Permissions granted = new Permissions(permissions);
        ConnectMessage message =
                switch (kind) {
                    case 0 ->
                            ConnectMessage.request(
                                    granted,
                                    new ConnectMessage.Route(
                                            address(source), address(destination), port),
                                    details,
                                    cut(privateData, PrivateData.CONNECT_BYTES));
                    case 1 ->
                            ConnectMessage.accept(
                                    granted, details, cut(privateData, PrivateData.ACCEPT_BYTES));
                    default -> ConnectMessage.reject(cut(privateData, PrivateData.REJECT_BYTES));
                };
        byte[] bytes = message.encode();
        if (kind == 0) {
            requireAddress(bytes, ROUTE_OFFSET, source);
            requireAddress(bytes, ROUTE_OFFSET + GID_BYTES, destination);
        }
        ConnectMessage again =
                kind == 0
                        ? ConnectMessage.decodeRequest(bytes)
                        : ConnectMessage.decodeAnswer(bytes);
        Refused.requireSame("connect message", bytes, again.encode());
        Refused.requireSame("private data", message.privateData(), again.privateData());
    }

    private static byte[] cut(byte[] data, int limit) {
        return Arrays.copyOf(data, Math.min(data.length, limit));
    }

    private static void requireAddress(byte[] bytes, int offset, byte[] gid) {
        Refused.requireSame(
                "address",
                Arrays.copyOf(gid, GID_BYTES),
                Arrays.copyOfRange(bytes, offset, offset + GID_BYTES));
    }

    private static InetAddress address(byte[] gid) {
        try {
            return InetAddress.getByAddress(Arrays.copyOf(gid, GID_BYTES));
        } catch (UnknownHostException e) {
            throw new AssertionError("16 bytes are an address", e);
        }
    }
}
