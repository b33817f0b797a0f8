package io.softdpu.core.internal.access;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Access to the implementations of engines and work queues, by the class that users see. Any
 * thread.
 */
public final class ImplementationAccess {
    private static final Map<Class<?>, Function<Object, Object>> INSTALLED =
            new ConcurrentHashMap<>();

    private ImplementationAccess() {}

    /** Installs the access to objects of a class; called once, by the class itself. */
    public static <T> void install(Class<T> owner, Function<? super T, Object> implementation) {
        INSTALLED.put(owner, object -> implementation.apply(owner.cast(object)));
    }

    /**
     * The access to the implementations of objects of a class, to be kept in a field: its use
     * allocates nothing.
     */
    public static Function<Object, Object> of(Class<?> owner) {
        return ClassLoading.access(owner, () -> INSTALLED.get(owner));
    }
}
