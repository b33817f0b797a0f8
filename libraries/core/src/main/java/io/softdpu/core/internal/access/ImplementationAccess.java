package io.softdpu.core.internal.access;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Access to the implementations of engines and work queues, by the class that users see. Any
 * thread; not for the data path.
 */
public final class ImplementationAccess {
    private static final Map<Class<?>, Function<Object, Object>> INSTALLED =
            new ConcurrentHashMap<>();

    private ImplementationAccess() {}

    /** Installs the access to objects of a class; called once, by the class itself. */
    public static <T> void install(Class<T> owner, Function<? super T, Object> implementation) {
        INSTALLED.put(owner, object -> implementation.apply(owner.cast(object)));
    }

    /** The implementation of an object whose class has installed the access. */
    public static <T> Object of(Class<T> owner, T object) {
        return Objects.requireNonNull(access(owner).apply(object), "an implementation");
    }

    private static Function<Object, Object> access(Class<?> owner) {
        return ClassLoading.access(owner, () -> left(owner));
    }

    private static @Nullable Function<Object, Object> left(Class<?> owner) {
        return INSTALLED.get(owner);
    }
}
