package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.internal.access.DependentsAccess;
import io.softdpu.core.internal.sanitizer.CompletionShuffler;
import io.softdpu.core.internal.sanitizer.Mistake;
import io.softdpu.core.internal.sanitizer.SanitizerState;
import io.softdpu.core.memory.SharedMemory;
import org.jspecify.annotations.Nullable;

/**
 * Services for an object of a library that is no context, as a sync event or a graph: what it
 * depends on stays open, and the sanitizer that was on when it was created is told of its misuse,
 * with the place of its creation. Any thread; not for the data path.
 */
public final class LibraryObject {
    /** Keeps what an object depends on open. */
    @FunctionalInterface
    public interface Hold {
        /** Ends it; idempotent. */
        void release();
    }

    private final @Nullable SanitizerState sanitizer;
    private final @Nullable Throwable createdAt;

    private LibraryObject(@Nullable SanitizerState sanitizer) {
        this.sanitizer = sanitizer;
        this.createdAt = sanitizer == null ? null : SanitizerState.place();
    }

    /** For an object that is created now, under the sanitizer of this thread or the program. */
    public static LibraryObject create() {
        return new LibraryObject(SanitizerState.current());
    }

    /** For an object that is created now, under the sanitizer of an engine. */
    public static LibraryObject create(ProgressEngine engine) {
        CompletionShuffler shuffler = GraphServices.implementation(engine).shuffler();
        return new LibraryObject(shuffler == null ? null : shuffler.sanitizer());
    }

    /** For a part of this object that is created now, under the same sanitizer. */
    public LibraryObject part() {
        return new LibraryObject(sanitizer);
    }

    /** Stack trace of the creation; null without a sanitizer. */
    public @Nullable Throwable createdAt() {
        return createdAt;
    }

    // ---- what it depends on ----

    /**
     * Refuses a closed device.
     *
     * @throws DpuException BAD_STATE
     */
    public static void requireOpen(Device device) {
        DependentsAccess.of(Device.class, device).requireOpen();
    }

    /**
     * Refuses closed memory.
     *
     * @throws DpuException BAD_STATE
     */
    public static void requireOpen(SharedMemory memory) {
        DependentsAccess.of(SharedMemory.class, memory).requireOpen();
    }

    /**
     * Keeps a device open.
     *
     * @param user the object, for messages
     * @param refused runs on a thread that could not close the device
     * @throws DpuException BAD_STATE if the device is closed, naming both
     */
    public static Hold hold(Device device, String user, Runnable refused) {
        return DependentsAccess.of(Device.class, device).add(user, refused)::release;
    }

    /**
     * Keeps memory open.
     *
     * @param user the object, for messages
     * @throws DpuException BAD_STATE if the memory is closed, naming both
     */
    public static Hold hold(SharedMemory memory, String user) {
        return DependentsAccess.of(SharedMemory.class, memory).add(user)::release;
    }

    // ---- reports to the sanitizer, if one is on ----

    /** Reports that a task or job was used in a way that the object does not allow. */
    public void taskMisused(String message) {
        report(Mistake.TASK_MISUSED, message);
    }

    /** Reports an instance that was not closed when its graph was stopped. */
    public void instanceLeaked(String message) {
        report(Mistake.INSTANCE_LEAKED, message);
    }

    /** Reports a sync event that was not closed before its device. */
    public void eventLeaked(String message) {
        report(Mistake.EVENT_LEAKED, message);
    }

    private void report(Mistake kind, String message) {
        if (sanitizer != null) {
            sanitizer.report(kind, message, createdAt);
        }
    }
}
