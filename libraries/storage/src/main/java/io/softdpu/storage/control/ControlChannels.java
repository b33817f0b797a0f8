package io.softdpu.storage.control;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.DpuException;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ProgressEngine;
import java.net.InetSocketAddress;

/** Makes the four kinds of control channel. */
public final class ControlChannels {
    private ControlChannels() {}

    /**
     * A channel that connects to a TCP server, beginning with its first use.
     *
     * @param engine of the thread that owns the channel; it is waited in, and closed after the
     *     channel
     * @throws DpuException OPERATING_SYSTEM
     */
    public static TcpClientControlChannel makeTcpClient(
            ProgressEngine engine, InetSocketAddress server) {
        return new TcpClientControlChannel(engine, server);
    }

    /**
     * A channel for one client of a TCP listener: the first that sends a whole control message.
     *
     * @param engine of the thread that owns the channel; it is waited in, and closed after the
     *     channel
     * @param listener the channel's from now on; closed with it
     * @param firstMessageTimeoutNanos what a client has for that before it is sent away
     * @throws DpuException OPERATING_SYSTEM; the listener stays the caller's then
     */
    public static TcpServerControlChannel makeTcpServer(
            ProgressEngine engine, TcpListener listener, long firstMessageTimeoutNanos) {
        TcpServerControlChannel channel =
                new TcpServerControlChannel(engine, listener, firstMessageTimeoutNanos);
        channel.begin();
        return channel;
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
}
