package io.softdpu.core.internal.base;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Access to the {@link Usage} of objects that keep theirs from the user, by their class, which need
 * not be known here. Any thread; not for the data path.
 */
public final class UsageAccess {
    private static final Map<Class<?>, Function<Object, Usage>> LEFT = new ConcurrentHashMap<>();

    private UsageAccess() {}

    /** Leaves the access to objects of a class; called once, by the class itself. */
    public static <T> void set(Class<T> owner, Function<? super T, Usage> usage) {
        LEFT.put(owner, object -> usage.apply(owner.cast(object)));
    }

    /** The access that a class has left; runs its static initialiser, unless it has run. */
    public static <T> Function<T, Usage> get(Class<T> owner) {
        Function<Object, Usage> left = ClassLoading.access(owner, () -> LEFT.get(owner));
        return left::apply;
    }
}
