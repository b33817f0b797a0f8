package io.softdpu.perf.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventContext;
import io.softdpu.core.sync.SyncEventSetTask;
import io.softdpu.core.sync.SyncEventTaskCallback;
import io.softdpu.core.sync.SyncEventWaitTask;
import io.softdpu.perf.pair.StopSign;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * One handle of the event, started in the mode of a plan. Its operations allocate nothing. Belongs
 * to the thread that starts it.
 */
abstract sealed class SyncHandle implements AutoCloseable {
    final SyncEvent event;
    final StopSign stop;

    private SyncHandle(SyncEvent event, StopSign stop) {
        this.event = event;
        this.stop = stop;
    }

    /** Starts a handle, which is closed with this. */
    static SyncHandle start(SyncEvent event, SyncPlan plan, StopSign stop) {
        return switch (plan.waiting()) {
            case null -> new Spinning(event, stop); // waits for nothing
            case BUSY -> new Spinning(event, stop);
            case YIELD -> new Yielding(event, stop);
            case EVENT -> new Sleeping(event, stop);
        };
    }

    /** Sets the value. */
    abstract void set(long value);

    /** Waits until the value is greater than a threshold, and returns it. */
    abstract long awaitGreater(long threshold);

    /** Waits until a moment of {@link System#nanoTime}, in the way in which it waits for values. */
    abstract void awaitTime(long atNanos);

    /** Adds 1 to the value; in synchronous mode, else BAD_STATE. */
    void increment() {
        event.add(1);
    }

    @Override
    public void close() {
        if (event.isStarted()) {
            event.stop();
        }
        event.close();
    }

    /** Synchronous mode; a wait ends with an interrupt if the measurement is to stop. */
    private static sealed class Spinning extends SyncHandle {
        Spinning(SyncEvent event, StopSign stop) {
            super(event, stop);
            event.start();
        }

        @Override
        void set(long value) {
            event.set(value);
        }

        @Override
        long awaitGreater(long threshold) {
            event.waitGreater(threshold, SyncEvent.ALL_BITS);
            return event.get();
        }

        @Override
        void awaitTime(long atNanos) {
            while (System.nanoTime() - atNanos < 0) {
                stop.check();
                Thread.onSpinWait();
            }
        }
    }

    private static final class Yielding extends Spinning {
        Yielding(SyncEvent event, StopSign stop) {
            super(event, stop);
        }

        @Override
        long awaitGreater(long threshold) {
            event.waitGreaterYield(threshold, SyncEvent.ALL_BITS);
            return event.get();
        }

        @Override
        @SuppressWarnings("ThreadPriorityCheck") // the way to wait that is measured
        void awaitTime(long atNanos) {
            while (System.nanoTime() - atNanos < 0) {
                stop.check();
                Thread.yield();
            }
        }
    }

    /** Asynchronous mode. */
    private static final class Sleeping extends SyncHandle {
        /** Limit of one sleep; the update ends it earlier. */
        private static final Duration TURN = Duration.ofMillis(100);

        private static final Duration STOP_TIMEOUT = Duration.ofSeconds(2);

        private final ProgressEngine engine = ProgressEngine.create();
        private final SyncEventContext context;
        private final SyncEventSetTask set;
        private final SyncEventWaitTask wait;
        private boolean isSet;
        private boolean isOver;

        Sleeping(SyncEvent event, StopSign stop) {
            super(event, stop);
            context = event.asContext();
            SyncEventTaskCallback<SyncEventSetTask> setFailed = task -> failed(task.status());
            SyncEventTaskCallback<SyncEventWaitTask> waitFailed = task -> failed(task.status());
            context.setSetTasks(1, _ -> isSet = true, setFailed);
            context.setWaitGreaterTasks(1, _ -> isOver = true, waitFailed);
            engine.connect(context);
            context.start();
            set = context.allocateSet(0);
            wait = context.allocateWaitGreater(0, SyncEvent.ALL_BITS);
        }

        private void failed(Status status) {
            if (context.state() == ContextState.RUNNING) {
                throw new DpuException(
                        status, "task of the measurement has failed: event=" + event);
            }
        }

        @Override
        void set(long value) {
            isSet = false;
            set.setValue(value).submit();
            while (!isSet) {
                engine.progress();
                stop.check();
            }
        }

        @Override
        long awaitGreater(long threshold) {
            isOver = false;
            wait.setThreshold(threshold).submit();
            while (!isOver) {
                stop.check();
                if (!engine.progress()) {
                    engine.requestNotification();
                    engine.awaitNotification(TURN);
                    engine.clearNotification();
                }
                DpuException failure = context.failure();
                if (failure != null) {
                    throw failure;
                }
            }
            return wait.value();
        }

        @Override
        void awaitTime(long atNanos) {
            for (long left = atNanos - System.nanoTime();
                    left > 0;
                    left = atNanos - System.nanoTime()) {
                stop.check();
                LockSupport.parkNanos(Math.min(left, TimeUnit.MILLISECONDS.toNanos(100)));
            }
        }

        @Override
        public void close() {
            try (ProgressEngine _ = engine;
                    SyncEvent _ = event) {
                if (context.state() == ContextState.RUNNING) {
                    context.stop();
                }
                engine.progress(); // ends what was in flight
                set.free();
                wait.free();
                engine.stop(context, STOP_TIMEOUT);
            }
        }
    }
}
