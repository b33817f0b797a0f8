package io.softdpu.perf.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.Mmap;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Thread that imports memory of the peer and releases it, again and again. The methods belong to
 * the thread that makes it.
 */
final class ImportLoad implements AutoCloseable {
    private final byte[] export;
    private final Device device;
    private final Duration timeout;
    private final CompletableFuture<Long> imports = new CompletableFuture<>();
    private final Thread thread;
    private volatile boolean ending;

    /**
     * Starts the thread.
     *
     * @param export of the memory
     * @param timeout of each import
     */
    ImportLoad(byte[] export, Device device, Duration timeout) {
        this.export = export.clone();
        this.device = device;
        this.timeout = timeout;
        thread = Thread.ofPlatform().name("softdpu-perf-import").start(this::run);
    }

    private void run() {
        try {
            long count = 0;
            do {
                Mmap.createFromExport(export, device, Mapping.ACCESS, timeout).close();
                count++;
            } while (!ending);
            imports.complete(count);
        } catch (RuntimeException | Error e) { // reported by end()
            imports.completeExceptionally(e);
        }
    }

    /**
     * Ends it after the current import, which it waits for.
     *
     * @return number of imports, at least 1
     * @throws DpuException if one failed
     */
    long end() {
        close();
        if (!imports.isDone()) {
            throw new DpuException(Status.TIME_OUT, "import does not end: thread=" + thread);
        }
        try {
            return imports.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof DpuException failure ? failure : e;
        }
    }

    /** Ends the thread. */
    @Override
    public void close() {
        ending = true;
        Duration longest = timeout.multipliedBy(2);
        try {
            if (!thread.join(longest)) {
                throw new DpuException(
                        Status.TIME_OUT, "import does not end: waitedMillis=" + longest.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
