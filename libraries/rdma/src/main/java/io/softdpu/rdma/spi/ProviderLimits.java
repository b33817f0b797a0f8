package io.softdpu.rdma.spi;

import java.util.EnumSet;
import java.util.Set;

/**
 * Operations and limits of a provider on a device.
 *
 * @param operations supported kinds of requests
 * @param maxMessageBytes limit of bytes of an operation
 * @param maxSendQueueSize limit of requests in flight on a connection, a power of two
 * @param maxReceiveQueueSize limit of posted receives of an instance, a power of two
 * @param maxSendQueueElements limit of the product of send queue size and list length
 * @param maxSendListLength limit of elements of the local list of a request but a receive
 * @param maxReceiveListLength limit of elements of the list of a receive
 * @param maxConnections limit of connections of an instance
 * @param maxTasks limit of tasks of each type of an instance, receive tasks excepted
 * @param maxReceiveTasks limit of receive tasks of an instance
 * @param minPathMtuBytes lowest path MTU, a power of two
 * @param maxPathMtuBytes highest path MTU, a power of two
 */
public record ProviderLimits(
        Set<WorkRequest.Kind> operations,
        long maxMessageBytes,
        int maxSendQueueSize,
        int maxReceiveQueueSize,
        int maxSendQueueElements,
        int maxSendListLength,
        int maxReceiveListLength,
        int maxConnections,
        int maxTasks,
        int maxReceiveTasks,
        int minPathMtuBytes,
        int maxPathMtuBytes) {
    /** The limits where there is no provider: no operations. */
    public static final ProviderLimits NONE =
            new ProviderLimits(Set.of(), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

    /**
     * Limits of a provider that has all operations, and whose queues are in the memory of the
     * process: they differ only by what its wire format carries.
     */
    public static ProviderLimits ofQueuesInMemory(
            long maxMessageBytes, int minPathMtuBytes, int maxPathMtuBytes) {
        return new ProviderLimits(
                EnumSet.allOf(WorkRequest.Kind.class),
                maxMessageBytes,
                /* maxSendQueueSize= */ 8192,
                /* maxReceiveQueueSize= */ 16384,
                /* maxSendQueueElements= */ 1 << 16,
                /* maxSendListLength= */ 64,
                /* maxReceiveListLength= */ 64,
                /* maxConnections= */ 1024,
                /* maxTasks= */ 1 << 16,
                /* maxReceiveTasks= */ 16384,
                minPathMtuBytes,
                maxPathMtuBytes);
    }

    /** Copies the set. */
    public ProviderLimits {
        operations = Set.copyOf(operations);
    }

    /** Common operations and lower limits of this and another provider. */
    public ProviderLimits and(ProviderLimits other) {
        EnumSet<WorkRequest.Kind> common = EnumSet.noneOf(WorkRequest.Kind.class);
        common.addAll(operations);
        common.retainAll(other.operations);
        return new ProviderLimits(
                common,
                Math.min(maxMessageBytes, other.maxMessageBytes),
                Math.min(maxSendQueueSize, other.maxSendQueueSize),
                Math.min(maxReceiveQueueSize, other.maxReceiveQueueSize),
                Math.min(maxSendQueueElements, other.maxSendQueueElements),
                Math.min(maxSendListLength, other.maxSendListLength),
                Math.min(maxReceiveListLength, other.maxReceiveListLength),
                Math.min(maxConnections, other.maxConnections),
                Math.min(maxTasks, other.maxTasks),
                Math.min(maxReceiveTasks, other.maxReceiveTasks),
                Math.max(minPathMtuBytes, other.minPathMtuBytes),
                Math.min(maxPathMtuBytes, other.maxPathMtuBytes));
    }
}
