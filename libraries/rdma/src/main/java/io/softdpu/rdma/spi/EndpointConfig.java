package io.softdpu.rdma.spi;

import io.softdpu.core.device.Device;
import io.softdpu.core.spi.ContextServices;

/**
 * Configuration of an RDMA instance for a provider; fixed at start.
 *
 * @param device the instance's device
 * @param services of the instance's context: copier, watches, timers, wake, mailbox
 * @param sendQueueSize work requests in flight on one connection, a power of two
 * @param maxConnections largest number of connections at a time
 * @param receiveTasks largest number of posted receives at a time
 * @param rnrRetries number of retries of a send that finds no receive at the peer, 0 to 6; 7 for no
 *     limit
 * @param connectTimeoutNanos timeout of each connecting step that waits for the peer's machine
 */
public record EndpointConfig(
        Device device,
        ContextServices services,
        int sendQueueSize,
        int maxConnections,
        int receiveTasks,
        int rnrRetries,
        long connectTimeoutNanos) {}
