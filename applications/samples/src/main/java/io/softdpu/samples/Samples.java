package io.softdpu.samples;

import java.util.List;

/** All samples, by name. Any thread. */
public final class Samples {
    private static final List<Sample> ALL =
            List.of(
                    new DmaCopyHost(),
                    new DmaCopyDpu(),
                    new ControlPathServer(),
                    new ControlPathClient(),
                    new DataPathServer(),
                    new DataPathClient(),
                    new SyncEventHost(),
                    new SyncEventDpu(),
                    new RdmaReadResponder(),
                    new RdmaReadRequester(),
                    new RdmaWriteResponder(),
                    new RdmaWriteRequester(),
                    new RdmaWriteImmediateResponder(),
                    new RdmaWriteImmediateRequester(),
                    new RdmaReceive(),
                    new RdmaSend(),
                    new RdmaReceiveImmediate(),
                    new RdmaSendImmediate(),
                    new RdmaSyncEventResponder(),
                    new RdmaSyncEventRequester(),
                    new RdmaPingpong(),
                    new PePolling(),
                    new PeEvent(),
                    new PeReactive(),
                    new PeAsyncStop(),
                    new PeMultiContext(),
                    new PeTaskError(),
                    new PeTaskResubmit(),
                    new PeGraph(),
                    new WorkQ(),
                    new WorkQGraph(),
                    new ShaDigest());

    private Samples() {}

    /** All of them, in the order in which one would read them. */
    public static List<Sample> all() {
        return ALL;
    }
}
