package io.softdpu.storage.worker;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Slot by which the control thread hands a command to a worker and waits for its end. One at a
 * time, taken and answered under a lock, as in the guide; the data path never comes here. The
 * command itself runs without the lock, or whoever waits for it could not stop waiting.
 */
final class CommandSlot {
    private static final System.Logger LOG = System.getLogger(CommandSlot.class.getName());

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition done = lock.newCondition();
    private @Nullable Command command;

    /** Something that the worker's thread shall do, and how it went. */
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
     * Leaves a command and waits until it is carried out. By the control thread.
     *
     * @param wake tells the worker that there is one
     * @return whether it was carried out in time; if not, it will not be begun, and what comes of
     *     one that was begun only the log tells
     * @throws RuntimeException what the command threw
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

    /** Carries out what was left here, if anything was. By the worker. */
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
            // The worker ends by it; the control thread must not take the command for done.
            problem = new IllegalStateException("worker ended in an error: " + e, e);
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
                LOG.log(System.Logger.Level.WARNING, "command failed that was given up", problem);
            }
        } finally {
            lock.unlock();
        }
    }
}
