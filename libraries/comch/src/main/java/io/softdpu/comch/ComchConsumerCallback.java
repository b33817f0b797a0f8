package io.softdpu.comch;

/** Is told that a consumer of the peer was created or has expired. Runs inside progress. */
@FunctionalInterface
public interface ComchConsumerCallback {
    /**
     * A remote consumer came or went.
     *
     * @param connection the connection on whose remote side it is
     * @param consumerId its id, unique within the connection: what a producer's send names
     */
    void onConsumer(ComchConnection connection, int consumerId);
}
