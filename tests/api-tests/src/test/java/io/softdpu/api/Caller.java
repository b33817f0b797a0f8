package io.softdpu.api;

import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.Affinity;
import io.softdpu.testkit.Patience;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes calls, each under a deadline: one that hangs is named, interrupted, and if that does not
 * help, ends this JVM, so that a build cannot hang with it.
 */
final class Caller implements AutoCloseable {
    private final ScheduledExecutorService watchdog =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().daemon().name("misuse-watchdog").factory());
    private final ExecutorService elsewhere =
            Executors.newSingleThreadExecutor(
                    Thread.ofPlatform().daemon().name("misuse-elsewhere").factory());
    private long calls;

    /** Calls on this thread. */
    Outcome call(Operation operation, @Nullable Object receiver, @Nullable Object[] arguments) {
        if (operation.key().equals("CpuBinding.bindCurrentThread")) {
            return callOnItsOwn(operation, receiver, arguments);
        }
        if (operation.key().startsWith("ProgressEngine.await")) { // and awaitNotification
            ((ProgressEngine) receiver).wake(); // or the longest of waits would be one
        }
        calls++;
        Outcome outcome =
                watched(operation.toString(), () -> invoke(operation, receiver, arguments));
        if (operation.key().equals("ProgressEngine.create")) { // it may bind this thread
            Affinity.unpinCurrentThread();
        }
        return outcome;
    }

    /** Calls on a thread that owns nothing. */
    Outcome callElsewhere(
            Operation operation, @Nullable Object receiver, @Nullable Object[] arguments) {
        calls++;
        Future<Outcome> future = elsewhere.submit(() -> invoke(operation, receiver, arguments));
        try {
            return future.get(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException | InterruptedException | ExecutionException e) {
            throw new AssertionError("call on another thread does not end: " + operation, e);
        }
    }

    /** Calls on a thread that is not used afterwards: the call changes the thread. */
    private Outcome callOnItsOwn(
            Operation operation, @Nullable Object receiver, @Nullable Object[] arguments) {
        calls++;
        Outcome[] outcome = new Outcome[1];
        Thread thread =
                Thread.ofPlatform()
                        .name("misuse-once")
                        .start(() -> outcome[0] = invoke(operation, receiver, arguments));
        try {
            if (!thread.join(Patience.DEADLINE)) {
                throw new AssertionError("call does not end: " + operation);
            }
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
        return outcome[0];
    }

    /** Does something of the tests' own under the same deadline. */
    <T> T watched(String what, Supplier<T> work) {
        Thread caller = Thread.currentThread();
        Watch watch = new Watch(what, caller);
        ScheduledFuture<?> first =
                watchdog.scheduleAtFixedRate(
                        watch, Patience.SECONDS, Patience.SECONDS, TimeUnit.SECONDS);
        try {
            T result = work.get();
            if (watch.barked) {
                throw new AssertionError("call hung until it was interrupted: " + what);
            }
            return result;
        } finally {
            first.cancel(false);
            if (watch.barked) {
                Thread.interrupted();
            }
        }
    }

    /** Number of calls. */
    long calls() {
        return calls;
    }

    private static Outcome invoke(
            Operation operation, @Nullable Object receiver, @Nullable Object[] arguments) {
        try {
            return Outcome.returned(operation, operation.invoke(receiver, arguments));
        } catch (Throwable thrown) {
            return Outcome.thrown(thrown);
        }
    }

    @Override
    public void close() {
        watchdog.shutdownNow();
        elsewhere.shutdownNow();
    }

    private static final class Watch implements Runnable {
        private final String what;
        private final Thread caller;
        private volatile boolean barked;

        private Watch(String what, Thread caller) {
            this.what = what;
            this.caller = caller;
        }

        @Override
        public void run() {
            if (barked) {
                System.err.println("hangs and cannot be interrupted: call=" + what);
                Runtime.getRuntime().halt(70);
            }
            barked = true;
            System.err.println("hangs: call=" + what);
            for (StackTraceElement frame : caller.getStackTrace()) {
                System.err.println("    at " + frame);
            }
            caller.interrupt();
        }
    }
}
