package io.softdpu.storage.control;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.storage.StorageDefaults;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.channels.Selector;

/** Makes the four kinds of control channel. */
public final class ControlChannels {
    private ControlChannels() {}

    /**
     * A channel that connects to a TCP server, beginning with its first use.
     *
     * @throws DpuException OPERATING_SYSTEM
     */
    public static TcpClientControlChannel makeTcpClient(InetSocketAddress server) {
        try {
            return new TcpClientControlChannel(server, Selector.open());
        } catch (IOException e) {
            throw system("selector cannot be opened", e);
        }
    }

    /**
     * As {@link #makeTcpServer(InetSocketAddress, long)}, with the default control timeout for a
     * client's first message.
     *
     * @throws DpuException as there
     */
    public static TcpServerControlChannel makeTcpServer(InetSocketAddress address) {
        return makeTcpServer(address, StorageDefaults.CONTROL_TIMEOUT_NANOS);
    }

    /**
     * A channel that listens for one TCP client, from now on: the first that sends a whole control
     * message.
     *
     * @param address where; port 0 takes any free port
     * @param firstMessageTimeoutNanos what a client has for that before it is sent away
     * @throws DpuException IN_USE where the port is taken; NOT_PERMITTED or INVALID_VALUE where it
     *     may or can not be bound; OPERATING_SYSTEM
     */
    public static TcpServerControlChannel makeTcpServer(
            InetSocketAddress address, long firstMessageTimeoutNanos) {
        Selector selector = null;
        TcpDoor door = null;
        try {
            selector = Selector.open();
            door = new TcpDoor(address, selector);
            return new TcpServerControlChannel(
                    door, door.address(), selector, firstMessageTimeoutNanos);
        } catch (IOException | RuntimeException e) {
            TcpControlChannel.closeQuietly(door);
            TcpControlChannel.closeQuietly(selector);
            throw notBound(address, e);
        }
    }

    /**
     * A channel that connects to a Comch server and begins at once.
     *
     * @param engine of the thread that owns the channel
     * @param timeoutNanos for connecting and for taking down
     * @throws DpuException whatever the client refuses: NOT_SUPPORTED off the host, INVALID_VALUE
     *     for a name that is none
     */
    public static ComchClientControlChannel makeComchClient(
            ProgressEngine engine,
            Device device,
            String serverName,
            ConsumerListener consumers,
            long timeoutNanos) {
        ComchClient client = ComchClient.create(device, serverName);
        try {
            ComchClientControlChannel channel =
                    new ComchClientControlChannel(engine, client, consumers, timeoutNanos);
            client.setConnectTimeout(timeoutNanos);
            engine.connect(client);
            client.start();
            return channel;
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }

    /**
     * A channel that listens for one Comch client, from now on.
     *
     * @param engine of the thread that owns the channel
     * @param timeoutNanos for taking down
     * @throws DpuException IN_USE where somebody serves that name; NOT_SUPPORTED off the DPU;
     *     INVALID_VALUE for a name that is none
     */
    public static ComchServerControlChannel makeComchServer(
            ProgressEngine engine,
            Device device,
            Representor representor,
            String serverName,
            ConsumerListener consumers,
            long timeoutNanos) {
        ComchServer server = ComchServer.create(device, representor, serverName);
        try {
            ComchServerControlChannel channel =
                    new ComchServerControlChannel(engine, server, consumers, timeoutNanos);
            engine.connect(server);
            server.start();
            return channel;
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
    }

    /** Host and port as they were given, without the slash that Java puts before an IP address. */
    static String text(InetSocketAddress address) {
        return address.getHostString() + ":" + address.getPort();
    }

    private static DpuException notBound(InetSocketAddress address, Exception e) {
        String reason = String.valueOf(e.getMessage());
        if (e instanceof BindException && reason.contains("in use")) {
            return new DpuException(Status.IN_USE, "port is taken: address=" + text(address), e);
        }
        if (e instanceof BindException && reason.contains("Permission")) {
            return new DpuException(
                    Status.NOT_PERMITTED, "port may not be bound: address=" + text(address), e);
        }
        if (e instanceof BindException || !(e instanceof IOException)) {
            return new DpuException(
                    Status.INVALID_VALUE,
                    "address cannot be bound: address=" + text(address) + ", reason=" + reason,
                    e);
        }
        return system("port cannot be opened", e);
    }

    private static DpuException system(String what, Exception e) {
        return new DpuException(Status.OPERATING_SYSTEM, what + ": reason=" + e, e);
    }
}
