package io.softdpu.rdma.spi;

/**
 * What a provider can do on a device.
 *
 * @param maxMessageBytes largest message, read or write
 * @param maxSendQueueSize largest send queue of a connection, a power of two
 * @param maxConnections most connections of an instance
 * @param maxReceiveTasks most receive tasks of an instance
 */
public record ProviderLimits(
        long maxMessageBytes, int maxSendQueueSize, int maxConnections, int maxReceiveTasks) {}
