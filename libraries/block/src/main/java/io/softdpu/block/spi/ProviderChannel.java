package io.softdpu.block.spi;

import io.softdpu.core.check.Refusal;
import org.jspecify.annotations.Nullable;

/**
 * Channel of a context to a block device. Belongs to the thread of the engine; allocates nothing
 * after its creation.
 *
 * <p>A channel continues a partial result until all is done, repeats what the system asks to
 * repeat, and ends a read that meets the end of the blocks with IO_FAILED, not with zeros. It
 * completes requests in {@link #progress()} and {@link #stop()} alone.
 */
public interface ProviderChannel extends AutoCloseable {
    /**
     * Accepts a request, which the context has checked against the properties of the device.
     * Executes nothing for which it has to wait.
     *
     * @return null if it was accepted; AGAIN if a queue of the system is full, by a {@linkplain
     *     Refusal#ready ready} refusal; another status if the channel cannot do the request
     */
    @Nullable Refusal submit(BlockRequest request);

    /**
     * Continues the requests in flight and completes those that have ended.
     *
     * @return whether any work was done
     */
    boolean progress();

    /** Passes requests on that were accepted so far. By default {@link #progress()} does. */
    default void ring() {}

    /**
     * Prepares a sleep of the engine, which has to end when a request has: passes requests on, and
     * looks for completed ones.
     *
     * @return true if there is work: do not sleep
     */
    boolean arm();

    /** Reverts {@link #arm()}. By default it does nothing. */
    default void disarm() {}

    /**
     * Ends requests: completes those that were not begun with SHUTDOWN, and those that have ended
     * with their results. Called in each progress of a context that stops, after {@link
     * #progress()}; also outside of one, if no request is in flight.
     *
     * @return whether none is left: no thread and no kernel uses their memory any more
     */
    boolean stop();

    /** Releases the channel, which has no request any more. Called once. */
    @Override
    void close();
}
