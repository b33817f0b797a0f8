package io.softdpu.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Calls that may hang in the system, where no interrupt reaches them: made on a thread of their
 * own, so that the test fails at a deadline with the stack of the thread.
 */
public final class Bounded {

    private Bounded() {}

    /**
     * Makes a call.
     *
     * @param <T> type of the result
     * @param what the call in words, for the failure
     * @param call made on another thread, which is left behind where the call hangs
     * @return what the call returned
     * @throws AssertionError if the call has not returned at the deadline of {@link Patience}
     * @throws Exception what the call threw
     */
    public static <T> T call(String what, Callable<T> call) throws Exception {
        return callAll(what, 1, call).getFirst();
    }

    /**
     * Makes a call on several threads at once.
     *
     * @param <T> type of the results
     * @param what the call in words, for the failure
     * @param threads how many
     * @param call made on each thread; a thread is left behind where the call hangs
     * @return what the calls returned
     * @throws AssertionError if a call has not returned at the deadline of {@link Patience}
     * @throws Exception what a call threw
     */
    public static <T> List<T> callAll(String what, int threads, Callable<T> call) throws Exception {
        return callAll(what, threads, Patience.DEADLINE, call);
    }

    /** As {@link #callAll(String, int, Callable)}, with a deadline of its own. */
    static <T> List<T> callAll(String what, int threads, Duration deadline, Callable<T> call)
            throws Exception {
        long start = System.nanoTime();
        List<FutureTask<T>> tasks = new ArrayList<>();
        List<Thread> started = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            FutureTask<T> task = new FutureTask<>(call);
            Thread thread = new Thread(task, "testkit-bounded");
            thread.setDaemon(true);
            thread.start();
            tasks.add(task);
            started.add(thread);
        }
        List<T> results = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            long left = Math.max(0, deadline.toNanos() - (System.nanoTime() - start));
            results.add(result(what, deadline, tasks.get(i), started.get(i), left));
        }
        return results;
    }

    private static <T> T result(
            String what, Duration deadline, FutureTask<T> task, Thread thread, long leftNanos)
            throws Exception {
        try {
            return task.get(leftNanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            AssertionError hangs =
                    new AssertionError("hangs: what=" + what + ", deadline=" + deadline);
            hangs.setStackTrace(thread.getStackTrace());
            throw hangs;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception thrown) {
                throw thrown;
            }
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw e;
        } finally {
            // A thread that has answered ends at once; leak checks look for it.
            if (task.isDone()) {
                thread.join();
            }
        }
    }
}
