package io.softdpu.storage.control;

/** Listener for the consumers of a Comch channel's peer. Called by the channel's thread. */
public interface ConsumerListener {
    /** Called when a consumer of the peer can be sent to. */
    void consumerAdded(int consumerId);

    /** Called when a consumer of the peer has expired. */
    void consumerExpired(int consumerId);

    /** A listener that does nothing. */
    static ConsumerListener none() {
        return new ConsumerListener() {
            @Override
            public void consumerAdded(int consumerId) {}

            @Override
            public void consumerExpired(int consumerId) {}
        };
    }
}
