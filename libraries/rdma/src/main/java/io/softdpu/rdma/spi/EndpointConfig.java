package io.softdpu.rdma.spi;

import io.softdpu.core.device.Device;
import io.softdpu.core.spi.ContextServices;

/**
 * The configuration of an RDMA instance, as far as a provider has to know it; fixed at start.
 *
 * @param device the device that the instance is on
 * @param services of the instance's context: copier, watches, timers, wake, mailbox
 * @param sendQueueSize work requests in flight on one connection, a power of two
 * @param maxConnections most connections at a time
 * @param receiveTasks most receives that are posted at a time
 * @param rnrRetries how often a send is tried again that finds no receive at the peer, 0 to 6; 7 is
 *     without end
 * @param connectTimeoutNanos bounds each step of connecting that waits for the peer's machine
 */
public record EndpointConfig(
        Device device,
        ContextServices services,
        int sendQueueSize,
        int maxConnections,
        int receiveTasks,
        int rnrRetries,
        long connectTimeoutNanos) {}
