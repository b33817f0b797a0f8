package io.softdpu.comch;

import io.softdpu.comch.wire.Hello;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.linux.text.Text;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Client of a Comm Channel: connects a function of the host to a server on the DPU, by the server's
 * name (Comm Channel guide, "doca_cc_client Initialization Flow").
 *
 * <p>{@link #start()} returns at once; the client is STARTING until progress establishes the
 * connection, then RUNNING. While no server serves the name, the client retries until the
 * {@linkplain #setConnectTimeout connect timeout} expires. Then, or when the server refuses, the
 * client passes through STOPPING to IDLE and {@link #failure()} gives the reason: NOT_FOUND (no
 * process serves that name for this function), TIME_OUT (the server does not progress), FULL,
 * INVALID_VALUE (other maximum message size), SHUTDOWN (the server is stopping). A running client
 * whose connection ends stops in the same way, with CONNECTION_RESET.
 */
public sealed interface ComchClient extends ComchEndpoint permits ClientContext {
    /** Default of the {@linkplain #setConnectTimeout connect timeout}: 5 s. */
    Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(5);

    /**
     * Creates a client in IDLE. The device cannot be closed while it is started.
     *
     * @param device a function that the DPU shows to the host
     * @param serverName the exact name of the server
     * @throws DpuException NOT_SUPPORTED if the device cannot have a client; INVALID_VALUE if the
     *     name is illegal; BAD_STATE if the device is closed
     */
    static ComchClient create(Device device, String serverName) {
        Arguments.notNull(device, "device");
        Hello.requireLegalName(Arguments.notNull(serverName, "serverName"));
        if (!ChannelName.canConnect(device.info())) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    "a Comm Channel client needs a function that the DPU shows to the host:"
                            + Text.format(
                                    " device=%s, side=%s", device, device.machine().side().id()));
        }
        ComchCapabilities.of(device.info()).requireLegalName(serverName);
        return new ClientContext(device, serverName);
    }

    /**
     * Sets the time within which the connection must be established; {@link
     * #DEFAULT_CONNECT_TIMEOUT} by default.
     *
     * @throws DpuException INVALID_VALUE if it is not positive
     */
    ComchClient setConnectTimeout(Duration timeout);

    /** The connect timeout. */
    Duration connectTimeout();

    /**
     * The connection.
     *
     * @throws DpuException NOT_CONNECTED if the client is not RUNNING
     */
    ComchConnection connection();

    // ---- the configuration of an endpoint, which returns this type ----

    @Override
    ComchClient setMaxMessageBytes(int sizeBytes);

    @Override
    ComchClient setReceiveQueueSize(int messageCount);

    @Override
    ComchClient setControlTimeout(Duration timeout);

    @Override
    ComchClient setSendTasks(
            int count,
            ComchTaskCallback<ComchSendTask> onSuccess,
            ComchTaskCallback<ComchSendTask> onFailure);

    @Override
    ComchClient setSendQueue(int messageCount, int sizeBytes);

    @Override
    ComchClient setWritableCallback(@Nullable ComchConnectionCallback callback);

    @Override
    ComchClient setMessageCallback(ComchMessageCallback callback);

    @Override
    ComchClient setConsumerCallbacks(ComchConsumerCallback created, ComchConsumerCallback expired);

    @Override
    ComchClient acceptStreams();

    @Override
    ComchClient setStateChangedCallback(@Nullable StateChangedCallback callback);

    @Override
    ComchClient setDataPathLocation(DataPathLocation location);

    @Override
    ComchClient setUserData(long userData);

    @Override
    ComchClient setUserObject(@Nullable Object userObject);
}
