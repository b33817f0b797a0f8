package io.softdpu.core.sync;

import io.softdpu.core.Status;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.ProcessView;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Thread that sleeps on a work queue of a sync event until its value is greater than another. */
final class QueueWaiter {

    private final CompletableFuture<Long> woken = new CompletableFuture<>();
    private final CompletableFuture<Void> armed = new CompletableFuture<>();

    private volatile Path thread;

    private QueueWaiter() {}

    /** Begins to wait, and returns when the thread has requested to be woken, or has ended. */
    static QueueWaiter sleep(SyncEventContext context, long above) {
        QueueWaiter waiter = new QueueWaiter();
        Thread.ofPlatform()
                .name("waiter")
                .start(() -> {
                    try {
                        waiter.thread = Path.of("/proc").resolve(threadSelf());
                        long value = waiter.wait(context, above);
                        waiter.armed.complete(null); // it need not have slept
                        waiter.woken.complete(value);
                    } catch (Throwable e) {
                        waiter.armed.completeExceptionally(e);
                        waiter.woken.completeExceptionally(e);
                    }
                });
        waiter.get(waiter.armed);
        return waiter;
    }

    private static Path threadSelf() throws IOException {
        return Files.readSymbolicLink(Path.of("/proc/thread-self"));
    }

    /** Whether the thread sleeps in the kernel now. */
    boolean isAsleep() {
        String stat = ProcessView.text(thread.resolve("stat"));
        return stat.charAt(stat.lastIndexOf(')') + 2) == 'S';
    }

    private long wait(SyncEventContext context, long above) {
        JobEvent event = JobEvent.create();
        try (WorkQueue queue = WorkQueue.create(1).setEventDriven(true)) {
            queue.add(context);
            queue.submit(context.createWaitGreaterJob(above, SyncEvent.ALL_BITS));
            while (true) {
                Status status = queue.progressRetrieve(event);
                if (status == Status.SUCCESS) {
                    return event.result();
                }
                if (status != Status.AGAIN) {
                    throw new AssertionError("wait has failed: status=" + event.status());
                }
                queue.armEvent();
                armed.complete(null);
                if (!queue.awaitEvent(Patience.LIMIT)) {
                    throw new AssertionError(
                            Text.format(
                                    "not woken: value=%d, above=%d",
                                    Objects.requireNonNull(context.event().handle()).get(), above));
                }
                queue.clearEvent();
            }
        }
    }

    /** The value that has ended the wait. */
    long value() {
        return get(woken);
    }

    private <T> T get(CompletableFuture<T> future) {
        try {
            return future.get(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException | InterruptedException e) {
            throw new AssertionError("waiter failed", e);
        }
    }
}
