package io.softdpu.core.sync.access;

import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.memory.RemoteMemory;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Access to internals of remote sync events. Any thread; nothing here allocates or takes a lock,
 * unless a refusal is returned.
 *
 * @param <E> the class of remote sync events
 */
public abstract class RemoteEventAccess<E> {
    private static volatile @Nullable RemoteEventAccess<?> installed;

    /** For the class of remote sync events alone. */
    protected RemoteEventAccess() {}

    /** The installed access object: there is an event, so its class was loaded. */
    @SuppressWarnings("unchecked") // there is one class of remote sync events
    public static <E> RemoteEventAccess<E> of(Class<E> events) {
        return (RemoteEventAccess<E>) Objects.requireNonNull(installed, events.getName());
    }

    /** Called once, by the class of remote sync events. */
    public static void install(RemoteEventAccess<?> access) {
        installed = access;
    }

    /** As {@code RemoteEvents.mark}. */
    public abstract @Nullable Refusal mark(E event, Device device);

    /** As {@code RemoteEvents.clear}. */
    public abstract void clear(E event);

    /** As {@code RemoteEvents.counterOf}. */
    public abstract RemoteMemory counterOf(E event);
}
