package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.ProgressEngine;
import org.jspecify.annotations.Nullable;

/**
 * Watch of one socket in a channel's progress engine, which ends the engine's sleep. Belongs to the
 * engine's thread; has to be ended before the socket is closed.
 *
 * <p>Level-triggered: a callback has to handle the event, or set the interest to {@link #NOTHING};
 * otherwise the engine never sleeps. {@link #NOTHING} removes the watch: errors and hang-ups, which
 * a peer can cause at any time, are reported for every other interest.
 */
final class EngineWatch {
    /** Interest without a watch. */
    static final int NOTHING = 0;

    private final ProgressEngine engine;
    private final int fd;
    private Runnable onReady;
    private @Nullable DescriptorWatch watch;
    private int interest = NOTHING;

    EngineWatch(ProgressEngine engine, int fd, Runnable onReady) {
        this.engine = engine;
        this.fd = fd;
        this.onReady = onReady;
    }

    /** Replaces the callback. */
    void onReady(Runnable callback) {
        onReady = callback;
    }

    /**
     * Watches for these events of {@link DescriptorWatch}, or-ed, or for {@link #NOTHING}.
     *
     * @throws DpuException OPERATING_SYSTEM if the system's limit of watches is reached
     */
    void setInterest(int wanted) {
        if (wanted == interest) {
            return;
        }
        DescriptorWatch present = watch;
        if (present == null) {
            watch = engine.watch(fd, wanted, (ready, events) -> onReady.run());
        } else if (wanted == NOTHING) {
            present.close();
            watch = null;
        } else {
            present.setInterest(wanted);
        }
        interest = wanted;
    }

    /** Removes the watch. */
    void end() {
        setInterest(NOTHING);
    }
}
