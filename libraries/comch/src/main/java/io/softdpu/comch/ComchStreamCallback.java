package io.softdpu.comch;

/** Callback of a stream that may have become readable or writable. Runs inside progress. */
@FunctionalInterface
public interface ComchStreamCallback {
    /**
     * Messages have arrived, or a send buffer is free after {@link ComchStream#tryClaim()} found
     * none. Called once for all messages of a pass of progress, and not again for those that were
     * not taken: take messages until {@link ComchStream#tryReceive()} returns null, or {@link
     * ComchStream#tryClaim()} does, after which the next call follows.
     *
     * <p>An exception of it is thrown by progress after the pass. It may stop and close the stream,
     * which then ends in later passes.
     *
     * @param stream the stream
     */
    void onReady(ComchStream stream);
}
