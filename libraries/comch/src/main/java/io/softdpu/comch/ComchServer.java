package io.softdpu.comch;

import io.softdpu.comch.wire.Hello;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.linux.text.Text;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Server of a Comm Channel: serves a name on the DPU for the clients of one function of the host
 * (Comm Channel guide, "doca_cc_server Initialization Flow").
 *
 * <p>{@link #start()} begins to listen and makes it RUNNING at once. Clients are accepted or
 * refused in progress: a refused client gets the status and the reason, and so does {@link
 * ComchRefusalCallback}. The end of a connection, orderly or not, affects neither the server nor
 * its other connections.
 */
public sealed interface ComchServer extends ComchEndpoint permits ServerContext {
    /**
     * Creates a server in IDLE. Device and representor cannot be closed while it is started.
     *
     * @param device a port of the DPU
     * @param representor represents the function whose clients may connect; opened on that device
     * @param name of the server: from 1 byte of UTF-8 to one less than the maximum name length
     * @throws DpuException NOT_SUPPORTED if the device cannot serve; NOT_PERMITTED if the
     *     representor is another device's; INVALID_VALUE if the name is illegal; BAD_STATE if one
     *     of them is closed
     */
    static ComchServer create(Device device, Representor representor, String name) {
        Arguments.notNull(device, "device");
        Arguments.notNull(representor, "representor");
        Hello.requireLegalName(Arguments.notNull(name, "name"));
        if (!ChannelName.canServe(device.info())) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "a Comm Channel server needs a port of the DPU: device=%s, side=%s",
                            device, device.machine().side().id()));
        }
        if (representor.device() != device) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "representor was opened on another device: representor=%s, device=%s",
                            representor, device));
        }
        ComchCapabilities.of(device.info()).requireLegalName(name);
        return new ServerContext(device, representor, name);
    }

    /**
     * Sets the number of clients that may be connected at a time; 16 by default, or the device's
     * maximum if that is less. Further clients are refused with FULL.
     *
     * @throws DpuException INVALID_VALUE if it is not 1 to the device's maximum
     */
    ComchServer setMaxClients(int clients);

    /** The number of clients that may be connected at a time. */
    int maxClients();

    /**
     * Sets the callback for connections that were established; mandatory, unless streams are
     * accepted.
     */
    ComchServer setConnectedCallback(ComchConnectionCallback callback);

    /** Sets the callback for clients that were refused or have given up; null for none. */
    ComchServer setRefusedCallback(@Nullable ComchRefusalCallback callback);

    /** Sets the callback for connections that have ended; null for none. */
    ComchServer setDisconnectedCallback(@Nullable ComchDisconnectCallback callback);

    /** The representor of the function whose clients may connect. */
    Representor representor();

    /** A snapshot of the connections that have not ended. */
    List<ComchConnection> connections();

    // ---- the configuration of an endpoint, which returns this type ----

    @Override
    ComchServer setMaxMessageBytes(int sizeBytes);

    @Override
    ComchServer setReceiveQueueSize(int messageCount);

    @Override
    ComchServer setControlTimeout(Duration timeout);

    @Override
    ComchServer setSendTasks(
            int count,
            ComchTaskCallback<ComchSendTask> onSuccess,
            ComchTaskCallback<ComchSendTask> onFailure);

    @Override
    ComchServer setSendQueue(int messageCount, int sizeBytes);

    @Override
    ComchServer setWritableCallback(@Nullable ComchConnectionCallback callback);

    @Override
    ComchServer setMessageCallback(ComchMessageCallback callback);

    @Override
    ComchServer setConsumerCallbacks(ComchConsumerCallback created, ComchConsumerCallback expired);

    @Override
    ComchServer acceptStreams();

    @Override
    ComchServer setStateChangedCallback(@Nullable StateChangedCallback callback);

    @Override
    ComchServer setDataPathLocation(DataPathLocation location);

    @Override
    ComchServer setUserData(long userData);

    @Override
    ComchServer setUserObject(@Nullable Object userObject);
}
