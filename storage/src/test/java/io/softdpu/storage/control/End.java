package io.softdpu.storage.control;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** One end of a channel on a thread of its own, as the channel's rule demands. */
public final class End implements AutoCloseable {
    public static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(20);

    private final ExecutorService thread;
    private final Runnable afterClose;
    public final ControlChannel channel;

    /** Makes the channel on the new thread. */
    public End(String name, Supplier<? extends ControlChannel> maker, Runnable afterClose) {
        this.thread = Executors.newSingleThreadExecutor(r -> new Thread(r, "end-" + name));
        this.afterClose = afterClose;
        this.channel = await(CompletableFuture.supplyAsync(maker, thread));
    }

    public <T> CompletableFuture<T> begin(Function<ControlChannel, T> action) {
        return CompletableFuture.supplyAsync(() -> action.apply(channel), thread);
    }

    public CompletableFuture<Void> beginDo(Consumer<ControlChannel> action) {
        return CompletableFuture.runAsync(() -> action.accept(channel), thread);
    }

    public <T> T call(Function<ControlChannel, T> action) {
        return await(begin(action));
    }

    public void run(Consumer<ControlChannel> action) {
        await(beginDo(action));
    }

    /** The result; what the action threw is thrown as it is. */
    public static <T> T await(CompletableFuture<T> future) {
        try {
            return future.get(DEADLINE_NANOS, TimeUnit.NANOSECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new AssertionError(e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("no end in time", e);
        }
    }

    @Override
    public void close() {
        run(open -> {
            open.close();
            afterClose.run();
        });
        thread.shutdown();
    }
}
