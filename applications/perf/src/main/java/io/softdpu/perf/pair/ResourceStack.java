package io.softdpu.perf.pair;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** Opened resources, which are closed in the opposite order. Belongs to one thread. */
public final class ResourceStack implements AutoCloseable {
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** Keeps one, to be closed before those that are kept already. */
    public <T extends AutoCloseable> T keep(T resource) {
        opened.push(resource);
        return resource;
    }

    /** Closes all; the first failure is thrown when the rest is done, with the others in it. */
    @Override
    public void close() {
        RuntimeException first = closeAll(null);
        if (first != null) {
            throw first;
        }
    }

    /** Closes all, because of a failure which takes in those that follow from it. */
    public void closeAfter(RuntimeException failure) {
        closeAll(failure);
    }

    private @Nullable RuntimeException closeAll(@Nullable RuntimeException before) {
        RuntimeException first = before;
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (RuntimeException e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            } catch (Exception e) {
                throw new AssertionError("closing throws nothing checked", e);
            }
        }
        return first;
    }
}
