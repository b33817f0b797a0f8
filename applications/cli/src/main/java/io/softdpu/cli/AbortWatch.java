package io.softdpu.cli;

import io.softdpu.core.Status;
import io.softdpu.linux.text.Reason;
import io.softdpu.storage.StorageRole;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Aborts a role on a signal (SIGINT, SIGTERM) or at the end of the parent process, and waits until
 * it has closed its session and printed its results.
 *
 * <p>Signals are handled by a shutdown hook: while it waits, the main thread finishes its work;
 * then the JVM ends with 128 + the signal's number, whatever the main thread would have returned.
 */
final class AbortWatch implements AutoCloseable {
    /**
     * Maximum time for the session to end. An abort takes milliseconds, and on a busy machine a
     * second; a process that is halted before its end leaves files in the fabric folder.
     */
    private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Maximum time for the last line on standard error. */
    private static final long LAST_LINE_MILLIS = 100;

    private static final int ENDED_WITH_PARENT = 1;
    private static final String PARENT_HAS_ENDED = "parent process has ended";

    private final CountDownLatch finished = new CountDownLatch(1);
    private @Nullable StorageRole role;
    private @Nullable String abortReason;
    private final PrintWriter errors;

    private AbortWatch(PrintWriter errors) {
        this.errors = errors;
    }

    /**
     * Starts to watch.
     *
     * @param parent the stream whose end is the end of the parent; null: there is no such parent
     * @param asked called for each byte that the parent sends, on a thread of its own
     * @param errors gets a line if the process ends before it has a role that reports the reason
     */
    static AbortWatch watch(@Nullable InputStream parent, Runnable asked, PrintWriter errors) {
        AbortWatch watch = new AbortWatch(errors);
        SignalGuard.onShutdown(watch::onSignal);
        if (parent != null) {
            Thread watcher =
                    new Thread(() -> watch.awaitEndOf(parent, asked), "softdpu-exit-with-parent");
            watcher.setDaemon(true);
            watcher.start();
        }
        return watch;
    }

    /** Sets the role that is aborted: at once, if an abort was requested already. */
    synchronized void attach(StorageRole newRole) {
        role = newRole;
        if (abortReason != null) {
            newRole.abort(abortReason);
        }
    }

    /** Reports that the role has ended and its results are printed: the process may end. */
    @Override
    public void close() {
        finished.countDown();
    }

    private void onSignal() {
        // The hook runs at a normal exit, too; then there is nothing left to abort.
        if (finished.getCount() > 0) {
            abort("User requested abort");
            awaitFinished();
        }
    }

    private void awaitEndOf(InputStream parent, Runnable asked) {
        try {
            while (parent.read() >= 0) {
                asked.run();
            }
        } catch (IOException e) {
            // If the stream cannot be read any more, the parent has ended, too.
        } catch (RuntimeException | Error e) { // else nothing notices the end of the parent
            abort("request of the parent failed: reason=" + Reason.of(e));
            return;
        }
        abort(PARENT_HAS_ENDED);
        if (!awaitFinished()) {
            halt();
        }
    }

    /**
     * Prints the last line and halts. Memory, locks and sockets are released by the kernel, and the
     * files of the folder are removed with it.
     */
    private void halt() {
        try {
            // On a thread of its own: a write to standard error may block if no process reads it.
            Thread last = new Thread(this::printParentHasEnded, "softdpu-last-line");
            last.setDaemon(true);
            last.start();
            last.join(LAST_LINE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // not expected; the process ends anyway
        } finally {
            Runtime.getRuntime().halt(ENDED_WITH_PARENT);
        }
    }

    private void printParentHasEnded() {
        errors.println(Errors.line(Status.CONNECTION_ABORTED, PARENT_HAS_ENDED));
        errors.flush();
    }

    /** Aborts the role, or a later one as soon as it is attached. */
    private synchronized void abort(String reason) {
        if (abortReason == null) {
            abortReason = reason;
        }
        if (role != null) {
            role.abort(reason);
        }
    }

    private boolean awaitFinished() {
        try {
            return finished.await(GRACE_NANOS, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
