package io.softdpu.core.internal.base;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Counts what lives on an object, so that the object cannot be closed under it, and names it when
 * somebody tries. Any thread; not for the data path, {@link #requireOpen} and {@link #isClosed}
 * excepted, which take no lock.
 */
public final class Usage {
    private static final int MAX_NAMED = 8;

    private final Supplier<String> subject;
    private final List<Hold> holds = new ArrayList<>();
    private volatile boolean closed;

    /**
     * Starts with nothing living on the subject.
     *
     * @param subject what is used, for messages: {@code device=0b:00.0}
     */
    public Usage(Supplier<String> subject) {
        this.subject = subject;
    }

    /**
     * Notes that something lives on the subject from now on.
     *
     * @param user what it is, for messages: {@code mmap}
     * @throws DpuException BAD_STATE if the subject is closed
     */
    public synchronized Hold hold(String user) {
        requireOpen();
        Hold hold = new Hold(user);
        holds.add(hold);
        return hold;
    }

    /**
     * Refuses what needs the subject open.
     *
     * @throws DpuException BAD_STATE if the subject is closed
     */
    public void requireOpen() {
        if (closed) {
            throw new DpuException(Status.BAD_STATE, "already closed: " + subject.get());
        }
    }

    /** Whether the subject is closed. */
    public boolean isClosed() {
        return closed;
    }

    /**
     * Marks the subject closed.
     *
     * @return false if it was already: there is nothing left to do
     * @throws DpuException IN_USE if something lives on it
     */
    public synchronized boolean close() {
        if (closed) {
            return false;
        }
        if (!holds.isEmpty()) {
            List<String> users =
                    holds.stream().limit(MAX_NAMED).map(hold -> hold.user).sorted().toList();
            throw new DpuException(
                    Status.IN_USE,
                    "still in use: %s, users=%d, first=%s"
                            .formatted(subject.get(), holds.size(), users));
        }
        closed = true;
        return true;
    }

    /** One thing that lives on the subject. */
    public final class Hold {
        private final String user;

        private Hold(String user) {
            this.user = user;
        }

        /** The thing is gone; releasing twice does nothing. */
        public void release() {
            synchronized (Usage.this) {
                holds.remove(this);
            }
        }
    }
}
