package io.softdpu.storage.session;

import io.softdpu.core.DpuException;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.wire.ControlPayload;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Control channels of a session, one per peer, which are aborted and notified of the session's
 * failure together. {@link #abort} may be called from any thread; the rest belongs to the control
 * thread.
 */
final class SessionChannels {
    private final List<ControlChannel> channels = new CopyOnWriteArrayList<>();
    private volatile @Nullable String abortReason;

    /** Adds a channel; aborts it at once if {@link #abort} was called already. */
    void add(ControlChannel channel) {
        channels.add(channel);
        String reason = abortReason;
        if (reason != null) {
            channel.abort(reason);
        }
    }

    /** Aborts all channels, those that are added later included; the first reason counts. */
    void abort(String reason) {
        synchronized (this) {
            if (abortReason == null) {
                abortReason = reason;
            }
        }
        channels.forEach(channel -> channel.abort(reason));
    }

    /** Throws a received error_response, or the failure of a channel. */
    void requireNoError() {
        channels.forEach(ControlChannel::requireNoError);
    }

    /** The channels that have failed with this failure; all of them if none has. */
    List<ControlChannel> failedWith(DpuException failure) {
        List<ControlChannel> failed =
                channels.stream().filter(channel -> channel.isFailure(failure)).toList();
        return failed.isEmpty() ? channels : failed;
    }

    /** Sends the reason of the session's failure to the connected peers. Throws nothing. */
    void sendFinalError(ControlPayload.ErrorResponse reason) {
        channels.forEach(channel -> channel.sendFinalError(reason));
    }
}
