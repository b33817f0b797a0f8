package io.softdpu.block.file;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads of a device, which do steps that may block, of all its channels by turns. They sleep
 * while there are none.
 */
final class Workers implements AutoCloseable {
    private static final VarHandle IDLE;

    static {
        try {
            IDLE = MethodHandles.lookup().findVarHandle(Worker.class, "idle", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final List<Worker> workers = new ArrayList<>();

    /** The channels; replaced by another array when one is opened or closed. */
    private volatile StepChannel[] channels = new StepChannel[0];

    private volatile boolean closed;

    /**
     * Starts the threads.
     *
     * @param name of the device, for their names
     */
    Workers(int threads, String name) {
        for (int i = 0; i < threads; i++) {
            Worker worker = new Worker(name + "-" + i);
            workers.add(worker);
        }
        boolean started = false;
        try {
            workers.forEach(worker -> worker.thread.start());
            started = true;
        } finally {
            if (!started) { // no memory for so many: those that run end
                close();
            }
        }
    }

    /** Begins to do steps of a channel. Any thread. */
    synchronized void add(StepChannel channel) {
        List<StepChannel> all = new ArrayList<>(List.of(channels));
        all.add(channel);
        channels = all.toArray(new StepChannel[0]);
    }

    /** Ends that, for a channel without steps. Any thread. */
    synchronized void remove(StepChannel channel) {
        List<StepChannel> all = new ArrayList<>(List.of(channels));
        all.remove(channel);
        channels = all.toArray(new StepChannel[0]);
    }

    /**
     * Wakes a thread for a step that was added. Any thread.
     *
     * <p>A worker says that it is idle and then looks for steps once more; here a step was added
     * before this looks for an idle worker: one of the two sees the other.
     */
    void wake() {
        for (int i = 0; i < workers.size(); i++) {
            Worker worker = workers.get(i);
            if (worker.idle && IDLE.compareAndSet(worker, true, false)) {
                LockSupport.unpark(worker.thread);
                return;
            }
        }
    }

    /** Ends the threads, which have no steps any more, and waits for that. */
    @Override
    public void close() {
        closed = true;
        boolean interrupted = false;
        for (Worker worker : workers) {
            LockSupport.unpark(worker.thread);
            while (worker.thread.isAlive()) {
                try {
                    worker.thread.join();
                } catch (InterruptedException e) {
                    interrupted = true; // it ends at once; the caller sees the interrupt then
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** A thread. */
    private final class Worker implements Runnable {
        private final Thread thread;

        /** Whether it sleeps, or is about to. */
        private volatile boolean idle;

        Worker(String name) {
            thread = new Thread(this, name);
            thread.setDaemon(true);
        }

        @Override
        public void run() {
            while (!closed) {
                if (work()) {
                    continue;
                }
                idle = true;
                if (!closed && !anyStep()) {
                    LockSupport.park(Workers.this);
                }
                idle = false;
            }
        }

        /** Does a step of each channel that has one. */
        private boolean work() {
            boolean any = false;
            for (StepChannel channel : channels) {
                any |= channel.work();
            }
            return any;
        }

        private boolean anyStep() {
            for (StepChannel channel : channels) {
                if (channel.hasSteps()) {
                    return true;
                }
            }
            return false;
        }
    }
}
