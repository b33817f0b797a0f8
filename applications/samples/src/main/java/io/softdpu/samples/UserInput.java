package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Wait for the user's Enter, while the engine progresses: it watches the standard input, so no
 * thread blocks. An input that ends, or that cannot be waited for, has no user; then the end of the
 * peer's connection ends the wait.
 */
final class UserInput implements AutoCloseable {
    private static final int STANDARD_INPUT = 0;
    private static final int PIECE_BYTES = 256;

    private final Runnable then;
    private @Nullable DescriptorWatch watch;
    private boolean peerHasEnded;

    private UserInput(Runnable then) {
        this.then = then;
    }

    /**
     * Begins the wait.
     *
     * @param then runs at its end, once, inside progress
     */
    static UserInput await(ProgressEngine engine, Runnable then) {
        UserInput input = new UserInput(then);
        try {
            input.watch =
                    engine.watch(
                            STANDARD_INPUT, DescriptorWatch.READABLE, (_, _) -> input.readable());
        } catch (DpuException e) {
            // A file or /dev/null cannot be watched, and a closed input is not found.
            if (e.status() != Status.NOT_SUPPORTED && e.status() != Status.NOT_FOUND) {
                throw e;
            }
        }
        return input;
    }

    /** Reads what is there, which does not block now. */
    private void readable() {
        byte[] piece = new byte[PIECE_BYTES];
        int count;
        try {
            count = System.in.read(piece);
        } catch (IOException e) {
            throw new DpuException(
                    Status.IO_FAILED, "standard input cannot be read: reason=" + Reason.of(e), e);
        }
        boolean entered = hasNewline(piece, count);
        if (count < 0 || entered) {
            close();
        }
        if (entered || (count < 0 && peerHasEnded)) {
            then.run();
        }
    }

    private static boolean hasNewline(byte[] piece, int count) {
        for (int i = 0; i < count; i++) {
            if (piece[i] == '\n') {
                return true;
            }
        }
        return false;
    }

    /** The peer has disconnected: without a user that is the end. */
    void peerHasEnded() {
        peerHasEnded = true;
        if (!hasUser()) {
            then.run();
        }
    }

    /** Whether a line may still come. */
    boolean hasUser() {
        return watch != null;
    }

    /** Ends the wait. Idempotent. */
    @Override
    public void close() {
        if (watch != null) {
            watch.close();
            watch = null;
        }
    }
}
