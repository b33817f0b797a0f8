package io.softdpu.comch;

/** Callback for consumers of the peer that were created or have expired. Runs inside progress. */
@FunctionalInterface
public interface ComchConsumerCallback {
    /**
     * Handles a remote consumer that was created or has expired.
     *
     * @param connection the connection on whose remote side it is
     * @param consumerId its id, unique within the connection, to which a producer sends
     */
    void onConsumer(ComchConnection connection, int consumerId);
}
