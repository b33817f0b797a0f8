package io.softdpu.storage.worker;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.text.Reason;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Thread of a worker and its progress engine: started, given commands, and ended by the control
 * thread. Methods belong to the control thread unless they state otherwise; protected ones to the
 * thread itself.
 */
public abstract class WorkerThread {
    /** Longest sleep of a worker without an event. */
    protected static final Duration IDLE_WAIT = Duration.ofSeconds(1);

    private final String role;
    private final WorkerSlot slot;
    private final long controlTimeoutNanos;
    private final Runnable notifyControl;
    private final System.Logger log;
    private final Thread thread;

    private final CommandSlot commands = new CommandSlot();
    private final Object engineLock = new Object();
    private final CountDownLatch engineReady = new CountDownLatch(1);
    private volatile @Nullable ProgressEngine engine;
    private volatile boolean ending;
    private volatile boolean ended;
    private volatile @Nullable DpuException failure;

    WorkerThread(String role, WorkerSlot slot, long controlTimeoutNanos, Runnable notifyControl) {
        this.role = role;
        this.slot = slot;
        this.controlTimeoutNanos = controlTimeoutNanos;
        this.notifyControl = notifyControl;
        this.log = System.getLogger("io.softdpu.storage." + role);
        this.thread =
                Thread.ofPlatform()
                        .daemon()
                        // The index first: the kernel keeps 15 characters of a name.
                        .name("softdpu-" + slot.index() + "-" + role)
                        .unstarted(this::threadProcedure);
    }

    // ---- the control thread's side

    /**
     * Starts the thread and waits until its engine is created.
     *
     * @throws DpuException TIME_OUT, or the failure of the start; NO_MEMORY if the system cannot
     *     create another thread
     */
    public final void start() {
        try {
            thread.start();
        } catch (OutOfMemoryError e) { // thrown by the JVM for any failure here
            throw new DpuException(
                    Status.NO_MEMORY,
                    "worker's thread cannot be started: " + name() + ", reason=" + Reason.of(e),
                    e);
        }
        try {
            if (!engineReady.await(controlTimeoutNanos, TimeUnit.NANOSECONDS)) {
                throw new DpuException(Status.TIME_OUT, "worker did not begin: " + name());
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        throwFailure();
    }

    /**
     * Runs an action on the worker's thread and waits until it is done. Not while the data path
     * runs.
     *
     * @throws DpuException thrown by the action; the failure of the worker; TIME_OUT
     */
    public final void execute(Runnable action) {
        throwFailure();
        try {
            if (commands.execute(action, controlTimeoutNanos, this::wakeUp)) {
                return;
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        throwFailure();
        throw new DpuException(
                Status.TIME_OUT,
                "worker did not execute a command: "
                        + name()
                        + ", waitedMillis="
                        + controlTimeoutNanos / 1_000_000);
    }

    /** As {@link #execute}, for an action with a result. */
    public final <T> T query(Supplier<T> question) {
        var answer =
                new Object() {
                    @Nullable T value;
                };
        execute(() -> answer.value = question.get());
        T value = answer.value;
        if (value == null) {
            throw new DpuException(Status.UNEXPECTED, "worker returned no result: " + name());
        }
        return value;
    }

    private DpuException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new DpuException(
                Status.CONNECTION_ABORTED, "control thread was interrupted: " + name(), cause);
    }

    /** The failure of the worker, or null. Any thread. */
    public final @Nullable DpuException failure() {
        return failure;
    }

    /** Throws the failure of the worker, if there is one. */
    public final void throwFailure() {
        DpuException reason = failure;
        if (reason != null) {
            throw new DpuException(reason.status(), String.valueOf(reason.getMessage()), reason);
        }
    }

    /** Whether the thread has ended, or never began. */
    public final boolean hasEnded() {
        return ended || thread.getState() == Thread.State.NEW;
    }

    /** The index of the worker within its session. */
    public final int index() {
        return slot.index();
    }

    /** Requests the end of the configuration phase, and so of the thread. */
    final void end() {
        ending = true;
        wakeUp();
    }

    /** Whether {@link #end} was called. Any thread. */
    final boolean isEnding() {
        return ending;
    }

    // ---- the worker's side

    /**
     * A round of the configuration phase.
     *
     * @return whether the next wait must be skipped, since a command's wake-up may have been
     *     consumed
     */
    abstract boolean configurationRound();

    /** Releases all users of the engine; called once, when the thread ends. */
    abstract void tearDown(ProgressEngine present);

    private void threadProcedure() {
        // Catches everything: an exception that ended this thread silently would block the others.
        try {
            ProgressEngine created = ProgressEngine.create(slot.cpu());
            engine = created;
            engineReady.countDown();
            configurationPhase();
        } catch (RuntimeException | Error e) {
            failed(e);
        } finally {
            engineReady.countDown();
            try {
                tearDown();
            } finally {
                ended = true;
                notifyControl();
            }
        }
    }

    private void configurationPhase() {
        while (!ending) {
            commands.process();
            if (!configurationRound()) {
                // Yields for a while, then sleeps until a command, a doorbell or a state change.
                engine().await(IDLE_WAIT);
            }
        }
    }

    private void tearDown() {
        ProgressEngine present = engine;
        if (present != null) {
            tearDown(present);
            attempt(() -> closeEngine(present));
            log.log(System.Logger.Level.DEBUG, "objects closed: worker=" + index());
        }
    }

    private void closeEngine(ProgressEngine present) {
        synchronized (engineLock) {
            engine = null;
            present.close();
        }
    }

    /** Runs a release step; its failure is recorded and does not prevent the next steps. */
    final void attempt(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    /** The engine; on the worker's thread. */
    protected final ProgressEngine engine() {
        ProgressEngine present = engine;
        if (present == null) {
            throw new DpuException(Status.BAD_STATE, "worker has not begun: " + name());
        }
        return present;
    }

    /** The engine, or null if there is none; for its counters. Any thread. */
    final @Nullable ProgressEngine engineOrNull() {
        return engine;
    }

    /** Ends the data path with this failure; only the first counts. */
    protected final void fail(DpuException reason) {
        if (failure == null) {
            failure = reason;
            log.log(
                    System.Logger.Level.DEBUG,
                    "Core: " + index() + " failed: " + Reason.of(reason));
            notifyControl();
        }
    }

    /** As {@link #fail(DpuException)}, for any exception of this thread. */
    final void failed(Throwable problem) {
        fail(asDpuException(problem));
    }

    /** Wakes the control thread. */
    protected final void notifyControl() {
        notifyControl.run();
    }

    /** Wakes the worker. Any thread; under a lock, so that no closed engine is woken. */
    protected final void wakeUp() {
        synchronized (engineLock) {
            ProgressEngine present = engine;
            if (present != null) {
                present.wake();
            }
        }
    }

    /** The slot of its commands, whose lock no data path takes. */
    final CommandSlot commands() {
        return commands;
    }

    /** Role and index, for messages: {@code key=value}. */
    final String name() {
        return "role=" + role + ", worker=" + index();
    }

    /** The logger of the role. */
    protected final System.Logger log() {
        return log;
    }

    private DpuException asDpuException(Throwable problem) {
        return problem instanceof DpuException known
                ? known
                : new DpuException(
                        Status.UNEXPECTED,
                        "worker failed: " + name() + ", reason=" + Reason.of(problem),
                        problem);
    }
}
