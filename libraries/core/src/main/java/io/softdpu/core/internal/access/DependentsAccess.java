package io.softdpu.core.internal.access;

import io.softdpu.core.internal.base.Dependents;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Access to the {@link Dependents} of objects, by their class. Any thread; not for the data path.
 */
public final class DependentsAccess {
    private static final Map<Class<?>, Function<Object, Dependents>> INSTALLED =
            new ConcurrentHashMap<>();

    private DependentsAccess() {}

    /** Installs the access to objects of a class; called once, by the class itself. */
    public static <T> void install(Class<T> owner, Function<? super T, Dependents> dependents) {
        INSTALLED.put(owner, object -> dependents.apply(owner.cast(object)));
    }

    /** The dependents of an object whose class has installed the access. */
    public static <T> Dependents of(Class<T> owner, T object) {
        return ClassLoading.access(owner, () -> INSTALLED.get(owner)).apply(object);
    }
}
