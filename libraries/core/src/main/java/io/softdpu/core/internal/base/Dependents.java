package io.softdpu.core.internal.base;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Dependents of an object: rejects close() while there are any, and names them. An object that has
 * a start is one from its start on, since a program may have lost one that was never started. Any
 * thread; not for the data path, except {@link #requireOpen} and {@link #isClosed}, which take no
 * lock.
 */
public final class Dependents {
    private static final int MAX_NAMED = 8;

    private final Supplier<String> subject;
    private final List<Dependency> dependencies = new ArrayList<>();
    private volatile boolean closed;

    /**
     * Creates an empty set.
     *
     * @param subject the object, for messages: {@code device=0b:00.0}
     */
    public Dependents(Supplier<String> subject) {
        this.subject = subject;
    }

    /**
     * Adds a dependent.
     *
     * @param user the dependent, for messages: {@code dma mlx5_0 #2}
     * @throws DpuException BAD_STATE if the subject is closed, naming both
     */
    public Dependency add(String user) {
        return add(user, () -> {});
    }

    /**
     * Adds a dependent that is told when a close of the subject was refused because of it.
     *
     * @param user the dependent, for messages
     * @param refused runs on the thread that could not close the subject
     * @throws DpuException BAD_STATE if the subject is closed, naming both
     */
    public synchronized Dependency add(String user, Runnable refused) {
        if (closed) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format("already closed: %s, user=%s", subject.get(), user));
        }
        Dependency added = new Dependency(user, refused);
        dependencies.add(added);
        return added;
    }

    /**
     * Checks that the subject is open.
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
     * @return false if it was closed already
     * @throws DpuException IN_USE if it has dependents
     */
    public synchronized boolean close() {
        if (closed) {
            return false;
        }
        if (!dependencies.isEmpty()) {
            List.copyOf(dependencies).forEach(dependency -> dependency.refused.run());
            List<String> users =
                    dependencies.stream()
                            .limit(MAX_NAMED)
                            .map(dependency -> dependency.user)
                            .sorted()
                            .toList();
            throw new DpuException(
                    Status.IN_USE,
                    Text.format(
                            "still in use: %s, users=%d, first=%s",
                            subject.get(), dependencies.size(), users));
        }
        closed = true;
        return true;
    }

    /** One dependent of the subject. */
    public final class Dependency {
        private final String user;
        private final Runnable refused;

        private Dependency(String user, Runnable refused) {
            this.user = user;
            this.refused = refused;
        }

        /** Removes the dependent; idempotent. */
        public void release() {
            synchronized (Dependents.this) {
                dependencies.remove(this);
            }
        }
    }
}
