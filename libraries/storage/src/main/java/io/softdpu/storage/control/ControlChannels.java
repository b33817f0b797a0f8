package io.softdpu.storage.control;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.DpuException;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ProgressEngine;
import java.net.InetSocketAddress;
import java.time.Duration;

/** Factory of the four kinds of control channel. */
public final class ControlChannels {
    private ControlChannels() {}

    /**
     * Creates a channel that connects to a TCP server, beginning with its first use.
     *
     * @param engine of the thread that owns the channel, which waits in it; has to be closed after
     *     the channel
     * @throws DpuException OPERATING_SYSTEM
     */
    public static TcpClientControlChannel makeTcpClient(
            ProgressEngine engine, InetSocketAddress server) {
        return new TcpClientControlChannel(engine, server);
    }

    /**
     * Creates a channel for one client of a TCP listener: the first that sends a complete control
     * message.
     *
     * @param engine of the thread that owns the channel, which waits in it; has to be closed after
     *     the channel
     * @param listener belongs to the channel from now on, which closes it
     * @param firstMessageTimeout timeout for that message, after which the client is refused
     * @throws DpuException OPERATING_SYSTEM; the listener still belongs to the caller then
     */
    public static TcpServerControlChannel makeTcpServer(
            ProgressEngine engine, TcpListener listener, Duration firstMessageTimeout) {
        TcpServerControlChannel channel =
                new TcpServerControlChannel(engine, listener, firstMessageTimeout);
        channel.begin();
        return channel;
    }

    /**
     * Creates a channel that begins to connect to a Comch server at once.
     *
     * @param engine of the thread that owns the channel
     * @param timeout for connecting and for closing
     * @throws DpuException of the client: NOT_SUPPORTED if the device is not on the host,
     *     INVALID_VALUE for an illegal name
     */
    public static ComchClientControlChannel makeComchClient(
            ProgressEngine engine,
            Device device,
            String serverName,
            ConsumerListener consumers,
            Duration timeout) {
        ComchClient client = ComchClient.create(device, serverName);
        try {
            ComchClientControlChannel channel =
                    new ComchClientControlChannel(engine, client, consumers, timeout);
            client.setConnectTimeout(timeout);
            engine.connect(client);
            client.start();
            return channel;
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }

    /**
     * Creates a channel that begins to listen for one Comch client at once.
     *
     * @param engine of the thread that owns the channel
     * @param timeout for closing
     * @throws DpuException IN_USE if the name is served already; NOT_SUPPORTED if the device is not
     *     on the DPU; INVALID_VALUE for an illegal name
     */
    public static ComchServerControlChannel makeComchServer(
            ProgressEngine engine,
            Device device,
            Representor representor,
            String serverName,
            ConsumerListener consumers,
            Duration timeout) {
        ComchServer server = ComchServer.create(device, representor, serverName);
        try {
            ComchServerControlChannel channel =
                    new ComchServerControlChannel(engine, server, consumers, timeout);
            engine.connect(server);
            server.start();
            return channel;
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
    }

    /** Host and port as given, without the slash that Java prefixes to an IP address. */
    static String text(InetSocketAddress address) {
        return address.getHostString() + ":" + address.getPort();
    }
}
