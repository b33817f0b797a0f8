package io.softdpu.cli;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Runs an action when a signal ends this process (SIGINT, SIGTERM), and delays the end of the JVM
 * until the command has printed its result.
 */
final class SignalGuard implements AutoCloseable {
    /** For a few lines, once everything has ended. */
    private static final int LAST_WORDS_SECONDS = 5;

    private final CountDownLatch said = new CountDownLatch(1);

    private SignalGuard() {}

    /**
     * Guards from now on.
     *
     * @param interrupt called on another thread; also at the end of a normal exit, where there is
     *     nothing left to end
     */
    static SignalGuard on(Runnable interrupt) {
        SignalGuard guard = new SignalGuard();
        onShutdown(() -> guard.onSignal(interrupt));
        return guard;
    }

    /**
     * Adds an action to the end of the JVM.
     *
     * @throws DpuException CONNECTION_ABORTED if a signal is ending the JVM already
     */
    static void onShutdown(Runnable action) {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(action, "softdpu-signal"));
        } catch (IllegalStateException e) {
            throw new DpuException(Status.CONNECTION_ABORTED, "User requested abort", e);
        }
    }

    /** The command has said what it has to say. */
    @Override
    public void close() {
        said.countDown();
    }

    /** The JVM ends when this returns, even if the main thread has not said yet what happened. */
    private void onSignal(Runnable interrupt) {
        interrupt.run();
        try {
            if (!said.await(LAST_WORDS_SECONDS, TimeUnit.SECONDS)) {
                System.getLogger(SignalGuard.class.getName())
                        .log(System.Logger.Level.WARNING, "command did not end after a signal");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
