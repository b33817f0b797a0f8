package io.softdpu.fabric.handshake;

/** Access of tests of a whole bus to an endpoint, on the bus thread. */
public final class EndpointProbe {
    private EndpointProbe() {}

    /** Suspends accepting for a while. */
    public static void pause(Endpoint endpoint) {
        endpoint.pause();
    }

    /** Has it accept who waits, as when its descriptor is ready. */
    public static void accept(Endpoint endpoint) {
        endpoint.accept();
    }

    /** Has it watch its descriptor again, as when a pause is over. */
    public static void watch(Endpoint endpoint) {
        endpoint.watch();
    }
}
