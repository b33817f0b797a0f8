package io.softdpu.rdma.roce.adapter;

import io.softdpu.rdma.roce.rc.Limits;
import io.softdpu.rdma.roce.wire.Gid;

/**
 * Configuration of an adapter.
 *
 * @param gid its address
 * @param firstNumber where the numbers of queue pairs begin, 24 bits: random, so that they are not
 *     those of an adapter that was here before
 * @param maxQueuePairs places for queue pairs, a power of two up to 2^20
 * @param maxDatagrams datagrams of connection management that wait for their transmission
 * @param limits of the queue pairs
 */
public record AdapterConfig(
        Gid gid, int firstNumber, int maxQueuePairs, int maxDatagrams, Limits limits) {
    private static final int MAX_QUEUE_PAIRS = 1 << 20;

    /**
     * Checks the limits.
     *
     * @throws IllegalArgumentException if a value is outside of its limits
     */
    public AdapterConfig {
        if (Integer.bitCount(maxQueuePairs) != 1
                || maxQueuePairs < 1
                || maxQueuePairs > MAX_QUEUE_PAIRS) {
            throw new IllegalArgumentException(
                    "places for queue pairs: maxQueuePairs="
                            + maxQueuePairs
                            + ", expected=a power of two up to "
                            + MAX_QUEUE_PAIRS);
        }
        if (maxDatagrams < 1) {
            throw new IllegalArgumentException(
                    "datagrams that wait: maxDatagrams=" + maxDatagrams + ", expected=at least 1");
        }
    }
}
