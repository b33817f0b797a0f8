package io.softdpu.rdma.spi;

/**
 * Limits of a provider on a device.
 *
 * @param maxMessageBytes largest message, read or write, in bytes
 * @param maxSendQueueSize largest send queue of a connection, a power of two
 * @param maxConnections largest number of connections of an instance
 * @param maxReceiveTasks largest number of receive tasks of an instance
 */
public record ProviderLimits(
        long maxMessageBytes, int maxSendQueueSize, int maxConnections, int maxReceiveTasks) {}
