package io.softdpu.core.internal.access;

import io.softdpu.core.check.Refusal;
import io.softdpu.core.spi.memory.RemoteMemory;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Access to internals of remote sync events. Any thread; nothing here allocates or takes a lock,
 * unless a refusal is returned.
 *
 * @param <E> the class of remote sync events
 * @param <D> the class of devices
 */
public abstract class RemoteEventAccess<E, D> {
    private static volatile @Nullable RemoteEventAccess<?, ?> installed;

    private final List<Class<?>> types;

    /** For the package of sync events alone. */
    protected RemoteEventAccess(Class<E> events, Class<D> devices) {
        this.types = List.of(events, devices);
    }

    /** The installed access object. */
    @SuppressWarnings("unchecked") // as require says
    public static <E, D> RemoteEventAccess<E, D> of(Class<E> events, Class<D> devices) {
        RemoteEventAccess<?, ?> access = ClassLoading.access(events, () -> installed);
        ClassLoading.require(access.types, List.of(events, devices));
        return (RemoteEventAccess<E, D>) access;
    }

    /** Called once, by the class of remote sync events. */
    public static void install(RemoteEventAccess<?, ?> access) {
        installed = access;
    }

    /** As {@code RemoteEvents.mark}. */
    public abstract @Nullable Refusal mark(E event, D device);

    /** As {@code RemoteEvents.clear}. */
    public abstract void clear(E event);

    /** As {@code RemoteEvents.counterOf}. */
    public abstract RemoteMemory counterOf(E event);
}
