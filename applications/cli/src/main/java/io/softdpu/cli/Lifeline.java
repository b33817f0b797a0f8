package io.softdpu.cli;

import io.softdpu.core.Status;
import io.softdpu.perf.child.SharedFolder;
import io.softdpu.storage.StorageRole;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Ends a role when the user (SIGINT, SIGTERM) or the end of the parent process asks for it: the
 * role is aborted, and gets a moment to take its session down and to say what it did.
 *
 * <p>Signals are seen through a shutdown hook: while it waits, the main thread finishes its work;
 * then the JVM ends with 128 + the signal's number, whatever the main thread would have returned.
 */
final class Lifeline implements AutoCloseable {
    /** How long a signal waits for the session to end; an abort takes milliseconds. */
    private static final long SIGNAL_GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** The same for the end of the parent, where all must be over within a second. */
    private static final long PARENT_GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(800);

    /** How long a line on standard error may take at the end. */
    private static final long LAST_WORD_MILLIS = 100;

    private static final int ENDED_WITH_PARENT = 1;
    private static final String PARENT_HAS_ENDED = "parent process has ended";

    private final CountDownLatch finished = new CountDownLatch(1);
    private @Nullable StorageRole role;
    private @Nullable SharedFolder folder;
    private @Nullable String abortReason;
    private final PrintWriter errors;

    private Lifeline(PrintWriter errors) {
        this.errors = errors;
    }

    /**
     * Watches from now on.
     *
     * @param parent the stream whose end is the end of the parent; null: there is no such parent
     * @param asked called for each byte that the parent sends, on a thread of its own
     * @param errors gets a line where the process has to end before it has a role that says why
     */
    static Lifeline watch(@Nullable InputStream parent, Runnable asked, PrintWriter errors) {
        Lifeline lifeline = new Lifeline(errors);
        Runtime.getRuntime().addShutdownHook(new Thread(lifeline::onSignal, "softdpu-signal"));
        if (parent != null) {
            Thread watcher =
                    new Thread(
                            () -> lifeline.awaitEndOf(parent, asked), "softdpu-exit-with-parent");
            watcher.setDaemon(true);
            watcher.start();
        }
        return lifeline;
    }

    /** This role is to be aborted; at once, if that was asked for already. */
    synchronized void attach(StorageRole newRole) {
        role = newRole;
        if (abortReason != null) {
            newRole.abort(abortReason);
        }
    }

    /** This folder is to be left before a process is halted that did not end by itself. */
    synchronized void leaveBeforeHalt(SharedFolder shared) {
        folder = shared;
    }

    /** The role has ended and has been reported: whoever waits for that may end the process. */
    @Override
    public void close() {
        finished.countDown();
    }

    private void onSignal() {
        // The hook runs at the end of a normal exit, too; then there is nothing left to end.
        if (finished.getCount() > 0) {
            abort("User requested abort");
            awaitFinished(SIGNAL_GRACE_NANOS);
        }
    }

    private void awaitEndOf(InputStream parent, Runnable asked) {
        try {
            while (parent.read() >= 0) {
                asked.run();
            }
        } catch (IOException e) {
            // A stream that cannot be read any more has no parent at its other end either.
        }
        abort(PARENT_HAS_ENDED);
        if (!awaitFinished(PARENT_GRACE_NANOS)) {
            halt();
        }
    }

    /** Everything this process shares ends with it, memory, locks, sockets; but not files. */
    private void halt() {
        SharedFolder left;
        synchronized (this) {
            left = folder;
        }
        try {
            // First, since a standard error that nobody reads may take no line for ever.
            if (left != null) {
                left.close();
            }
            Thread last = new Thread(this::sayThatTheParentHasEnded, "softdpu-last-word");
            last.setDaemon(true);
            last.start();
            last.join(LAST_WORD_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nobody has a reason to; the end follows
        } finally {
            Runtime.getRuntime().halt(ENDED_WITH_PARENT);
        }
    }

    private void sayThatTheParentHasEnded() {
        errors.println(Errors.line(Status.CONNECTION_ABORTED, PARENT_HAS_ENDED));
        errors.flush();
    }

    /** What has not begun yet ends as soon as it does. */
    private synchronized void abort(String reason) {
        if (abortReason == null) {
            abortReason = reason;
        }
        if (role != null) {
            role.abort(reason);
        }
    }

    private boolean awaitFinished(long nanos) {
        try {
            return finished.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
