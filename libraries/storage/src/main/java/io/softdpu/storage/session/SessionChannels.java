package io.softdpu.storage.session;

import io.softdpu.core.DpuException;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.wire.ControlPayload;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The control channels of a session, one per peer: aborted together, and told together why the
 * session ends. {@link #abort} may come from any thread; the rest belongs to the control thread.
 */
final class SessionChannels {
    private final List<ControlChannel> channels = new CopyOnWriteArrayList<>();
    private volatile @Nullable String abortReason;

    /** Has {@link #abort} reach this channel from now on; at once, if it was called already. */
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

    /** Throws the error_response that a peer has sent, or that one has gone. */
    void requireNoError() {
        channels.forEach(ControlChannel::requireNoError);
    }

    /** The channels whose end a failure is; all of them if it is of none. */
    List<ControlChannel> concernedBy(DpuException failure) {
        List<ControlChannel> failed =
                channels.stream().filter(channel -> channel.isFailure(failure)).toList();
        return failed.isEmpty() ? channels : failed;
    }

    /** Tells the peers that are still there why this side gives up. Throws nothing. */
    void farewell(ControlPayload.ErrorResponse reason) {
        channels.forEach(channel -> channel.farewell(reason));
    }
}
