package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.ProgressEngine;
import org.jspecify.annotations.Nullable;

/**
 * The watch of one socket in a channel's progress engine, by which news ends the engine's sleep.
 * Belongs to the engine's thread; ended before the socket is closed.
 *
 * <p>Level-triggered: a callback has to take what it was called for, or set the interest to {@link
 * #NOTHING}, or the engine would find work for ever. With that no watch is left: an error and a
 * hang-up are reported whatever was asked for, and a peer can cause them at any time.
 */
final class EngineWatch {
    /** No watch at all. */
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

    /** Has this run from now on. */
    void onReady(Runnable callback) {
        onReady = callback;
    }

    /**
     * Watches for these events of {@link DescriptorWatch}, or-ed, or for {@link #NOTHING}.
     *
     * @throws DpuException OPERATING_SYSTEM if the system has no room for a further watch
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

    /** Watches for nothing more. */
    void end() {
        setInterest(NOTHING);
    }
}
