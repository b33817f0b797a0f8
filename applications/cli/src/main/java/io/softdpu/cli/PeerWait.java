package io.softdpu.cli;

import io.softdpu.cli.log.Logging;
import io.softdpu.cli.log.StatusLine;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.initiator.InitiatorListener;
import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Report of a role's wait for its peer, and of its data path: on a terminal a line that counts the
 * seconds, in a log one line. Belongs to the control thread of the role.
 */
final class PeerWait implements InitiatorListener, AutoCloseable {
    private static final System.Logger LOG = System.getLogger("io.softdpu.cli.wait");

    private final boolean isTerminal;
    private final PrintStream terminal;
    private final long intervalMillis;
    private String listening = "";
    private @Nullable SessionStep last;
    private @Nullable Shown shown;
    private @Nullable DataPathProgress progress;

    /** Reports on standard error, in the way of its kind. */
    PeerWait() {
        this(Terminal.isStandardError() && Logging.showsSteps(), System.err, 1000);
    }

    PeerWait(boolean isTerminal, PrintStream terminal, long intervalMillis) {
        this.isTerminal = isTerminal;
        this.terminal = terminal;
        this.intervalMillis = intervalMillis;
    }

    /** Shows this in the data path, which has not begun. */
    void showProgress(DataPathProgress ofDataPath) {
        progress = ofDataPath;
    }

    /** The step that began last; null before the first. */
    @Nullable SessionStep lastStep() {
        return last;
    }

    @Override
    public void step(SessionStep step, String detail) {
        close();
        last = step;
        switch (step) {
            case LISTENING -> listening = detail;
            case CONNECTING_TO_STORAGE -> begin("the storage target at " + detail);
            case CONNECTING_TO_SERVICE -> begin("the zero-copy service at " + detail);
            case WAITING_FOR_CLIENT ->
                    begin(
                            detail.isEmpty()
                                    ? "a zero-copy service at " + listening
                                    : "an initiator at " + detail);
            case DATA_PATH -> {
                if (progress != null) {
                    progress.begin();
                }
            }
            case CONNECTED, QUERY, INIT, START, STOP, SHUTDOWN -> {}
        }
    }

    private void begin(String peer) {
        String text = "waiting for " + ForeignText.escape(peer);
        if (isTerminal) {
            shown = new Shown(text);
        } else {
            LOG.log(System.Logger.Level.INFO, text);
        }
    }

    /** Ends a wait, and the progress of the data path. Idempotent. */
    @Override
    public void close() {
        if (progress != null) {
            progress.close();
        }
        if (shown != null) {
            shown.end();
            shown = null;
        }
    }

    /** A line on the terminal, rewritten by a thread of its own. */
    private final class Shown {
        private final CountDownLatch ended = new CountDownLatch(1);
        private final long startNanos = System.nanoTime();
        private final Thread thread;

        Shown(String text) {
            thread = new Thread(() -> rewrite(text), "softdpu-wait");
            thread.setDaemon(true);
            thread.start();
        }

        private void rewrite(String text) {
            try {
                do {
                    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos);
                    StatusLine.standardError().show(terminal, text + ": " + seconds + " s");
                } while (!ended.await(intervalMillis, TimeUnit.MILLISECONDS));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // not expected; the line stays as it is
            }
        }

        void end() {
            ended.countDown();
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            StatusLine.standardError().clear(terminal);
        }
    }
}
