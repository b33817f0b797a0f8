package io.softdpu.rdma.spi;

import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.ContextServices;
import java.net.InetAddress;

/**
 * Configuration of an RDMA instance for a provider; fixed at start, and within the provider's
 * {@link ProviderLimits}.
 *
 * @param device the instance's device
 * @param services of the instance's context: copier, watches, timers, wake, mailbox
 * @param permissions what peers may do through the instance. The blob of a connection tells it to
 *     the peer's library, which refuses the rest; a provider whose requests are executed by the
 *     responder checks them there as well
 * @param sendQueueSize requests in flight on one connection, a power of two
 * @param receiveQueueSize posted receives of the instance at a time
 * @param maxSendListLength limit of elements of the local list of a request but a receive
 * @param receiveListLength limit of elements of the list of a receive
 * @param maxConnections limit of connections at a time
 * @param pathMtuBytes largest payload of a packet, a power of two; a connection uses the lower
 *     value of its ends
 * @param gid the address that is the GID of the instance; an IPv4 address is mapped into IPv6
 * @param rnrRetries number of retries of a message that finds no receive at the peer, 0 to 6; 7 for
 *     no limit
 * @param rnrTimer the time after which a peer repeats a message that has found no receive here
 * @param connectTimeoutNanos timeout of each connecting step that waits for the peer's machine
 */
public record EndpointConfig(
        Device device,
        ContextServices services,
        Permissions permissions,
        int sendQueueSize,
        int receiveQueueSize,
        int maxSendListLength,
        int receiveListLength,
        int maxConnections,
        int pathMtuBytes,
        InetAddress gid,
        int rnrRetries,
        RnrTimer rnrTimer,
        long connectTimeoutNanos) {}
