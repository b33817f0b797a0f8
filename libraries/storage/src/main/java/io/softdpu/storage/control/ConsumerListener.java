package io.softdpu.storage.control;

/** Hears which consumers the peer of a Comch channel has. Called by the channel's thread. */
public interface ConsumerListener {
    /** A consumer of the peer can be sent to from now on. */
    void consumerAdded(int consumerId);

    /** A consumer of the peer has gone. */
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
