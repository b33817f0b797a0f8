package io.softdpu.core.internal.access;

import io.softdpu.core.internal.base.Usage;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Access to the {@link Usage} of objects that keep theirs from the user, by their class, which need
 * not be known here. Any thread; not for the data path.
 */
public final class UsageAccess {
    private static final Map<Class<?>, Function<Object, Usage>> INSTALLED =
            new ConcurrentHashMap<>();

    private UsageAccess() {}

    /** Installs the access to objects of a class; called once, by the class itself. */
    public static <T> void install(Class<T> owner, Function<? super T, Usage> usage) {
        INSTALLED.put(owner, object -> usage.apply(owner.cast(object)));
    }

    /** What lives on an object of a class that has installed the access. */
    public static <T> Usage of(Class<T> owner, T object) {
        return ClassLoading.access(owner, () -> INSTALLED.get(owner)).apply(object);
    }
}
