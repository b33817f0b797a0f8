package io.softdpu.storage.worker;

import io.softdpu.linux.text.Reason;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Slot by which the control thread passes a command to a worker and waits for its completion. One
 * command at a time, taken and completed under a lock, as in the guide; not used by the data path.
 * The command itself runs without the lock, so that the wait for it can time out.
 */
final class CommandSlot {
    private static final System.Logger LOG = System.getLogger(CommandSlot.class.getName());

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition done = lock.newCondition();
    private @Nullable Command command;

    /** Action for the worker's thread, and its result. */
    private static final class Command {
        final Runnable action;
        boolean done;
        boolean abandoned;
        @Nullable RuntimeException problem;

        Command(Runnable action) {
            this.action = action;
        }
    }

    /**
     * Passes a command and waits until it is executed. On the control thread.
     *
     * @param wake wakes the worker
     * @return whether it was executed in time; if not, it is not started any more, and a failure of
     *     one that was started is only logged
     * @throws RuntimeException thrown by the command
     */
    boolean execute(Runnable action, long timeoutNanos, Runnable wake) throws InterruptedException {
        Command mine = new Command(action);
        long left = timeoutNanos;
        lock.lock();
        try {
            command = mine;
            wake.run();
            while (!mine.done && left > 0) {
                left = done.awaitNanos(left);
            }
            if (command == mine) {
                command = null;
            }
            if (mine.problem != null) {
                throw mine.problem;
            }
            mine.abandoned = !mine.done;
            return mine.done;
        } finally {
            lock.unlock();
        }
    }

    /** Executes a waiting command, if there is one. On the worker's thread. */
    void process() {
        Command present = take();
        if (present == null) {
            return;
        }
        RuntimeException problem = null;
        try {
            present.action.run();
        } catch (RuntimeException e) {
            problem = e;
        } catch (Error e) {
            // The error ends the worker; the command must not count as successful.
            problem = new IllegalStateException("worker ended in an error: " + Reason.of(e), e);
            throw e;
        } finally {
            answer(present, problem);
        }
    }

    private @Nullable Command take() {
        lock.lock();
        try {
            Command present = command;
            command = null;
            return present;
        } finally {
            lock.unlock();
        }
    }

    private void answer(Command carriedOut, @Nullable RuntimeException problem) {
        lock.lock();
        try {
            carriedOut.problem = problem;
            carriedOut.done = true;
            done.signalAll();
            if (problem != null && carriedOut.abandoned) {
                LOG.log(System.Logger.Level.WARNING, "command failed after its timeout", problem);
            }
        } finally {
            lock.unlock();
        }
    }
}
