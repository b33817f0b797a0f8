package io.softdpu.storage.worker;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ProgressEngine;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Thread of a worker and its progress engine: started, given commands, and ended by the control
 * thread. Methods are the control thread's unless they say otherwise; protected ones are for the
 * thread itself.
 */
public abstract class WorkerThread {
    /** How long a worker without work sleeps at most; whatever happens wakes it earlier. */
    static final long IDLE_WAIT_NANOS = 1_000_000_000L;

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
                        .name("softdpu-" + role + "-" + slot.index())
                        .unstarted(this::threadProcedure);
    }

    // ---- the control thread's side

    /**
     * Starts the thread and waits until its engine is there.
     *
     * @throws DpuException TIME_OUT, or why it could not begin; NO_MEMORY where the machine has no
     *     room for another thread
     */
    public final void start() {
        try {
            thread.start();
        } catch (OutOfMemoryError e) { // what the JVM makes of any failure here
            throw new DpuException(
                    Status.NO_MEMORY,
                    "worker's thread cannot be started: " + name() + ", reason=" + e.getMessage(),
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
     * Has the worker's thread do something, and waits until it is done. Not while the data path
     * runs.
     *
     * @throws DpuException what the command threw; why the worker had failed before; TIME_OUT
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
                "worker did not carry out a command: "
                        + name()
                        + ", waited_ms="
                        + controlTimeoutNanos / 1_000_000);
    }

    /** As {@link #execute}, for a command that has a result. */
    public final <T> T query(Supplier<T> question) {
        var answer =
                new Object() {
                    @Nullable T value;
                };
        execute(() -> answer.value = question.get());
        T value = answer.value;
        if (value == null) {
            throw new DpuException(Status.UNEXPECTED, "worker gave no answer: " + name());
        }
        return value;
    }

    private DpuException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new DpuException(
                Status.CONNECTION_ABORTED, "control thread was interrupted: " + name(), cause);
    }

    /** Why the worker failed, or null. Any thread. */
    public final @Nullable DpuException failure() {
        return failure;
    }

    /** Throws why the worker failed, if it did. */
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

    /** Its index. */
    public final int core() {
        return slot.index();
    }

    /** Has the thread leave its configuration phase, which ends it. */
    final void end() {
        ending = true;
        wakeUp();
    }

    /** Whether {@link #end} was called. Any thread. */
    final boolean isEnding() {
        return ending;
    }

    // ---- the worker's side

    /** Makes what belongs to the engine; called once, before the first command. */
    abstract void engineMade(ProgressEngine created);

    /**
     * A round of the configuration phase.
     *
     * @return whether a command may have come meanwhile without ending the next wait
     */
    abstract boolean configurationRound();

    /** Gives back all that uses the engine; called once, when the thread ends. */
    abstract void takeDown(ProgressEngine present);

    private void threadProcedure() {
        // Nothing may escape: an exception that ended this thread in silence would hang the others.
        try {
            ProgressEngine created = ProgressEngine.create(slot.pollers(), slot.cpu());
            engine = created;
            engineMade(created);
            engineReady.countDown();
            configurationPhase();
        } catch (RuntimeException | Error e) {
            failed(e);
        } finally {
            engineReady.countDown();
            try {
                takeDown();
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
                // Yields for a while, then sleeps; a command, a doorbell or a state ends it.
                engine().await(IDLE_WAIT_NANOS);
            }
        }
    }

    private void takeDown() {
        ProgressEngine present = engine;
        if (present != null) {
            takeDown(present);
            attempt(() -> closeEngine(present));
        }
    }

    private void closeEngine(ProgressEngine present) {
        synchronized (engineLock) {
            engine = null;
            present.close();
        }
    }

    /** Runs a step of taking down: one that fails keeps no other from being done. */
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

    /** The engine, or null where the thread has none; for its counters. Any thread. */
    final @Nullable ProgressEngine engineOrNull() {
        return engine;
    }

    /** Ends the data path with this reason; the first counts. */
    protected final void fail(DpuException reason) {
        if (failure == null) {
            failure = reason;
            log.log(System.Logger.Level.DEBUG, "Core: " + core() + " failed: " + reason);
            notifyControl();
        }
    }

    /** As {@link #fail(DpuException)}, for whatever was thrown on this thread. */
    final void failed(Throwable problem) {
        fail(asDpuException(problem));
    }

    /** Wakes the control thread. */
    protected final void notifyControl() {
        notifyControl.run();
    }

    /** Ends the worker's sleep. Any thread; under a lock, so that no closed engine is woken. */
    protected final void wakeUp() {
        synchronized (engineLock) {
            ProgressEngine present = engine;
            if (present != null) {
                present.wake();
            }
        }
    }

    /** Role and core, for messages: {@code key=value}. */
    final String name() {
        return "role=" + role + ", core=" + core();
    }

    final System.Logger log() {
        return log;
    }

    private DpuException asDpuException(Throwable problem) {
        return problem instanceof DpuException known
                ? known
                : new DpuException(
                        Status.UNEXPECTED,
                        "worker failed: " + name() + ", reason=" + problem,
                        problem);
    }
}
