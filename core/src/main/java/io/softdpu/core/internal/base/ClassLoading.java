package io.softdpu.core.internal.base;

import java.lang.invoke.MethodHandles;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Makes sure that a class has handed over its access object. */
public final class ClassLoading {
    private ClassLoading() {}

    /** Runs the owner's static initialiser, unless it has run, and then takes what it left. */
    public static <T> T access(Class<?> owner, Supplier<@Nullable T> left) {
        try {
            MethodHandles.lookup().ensureInitialized(owner);
        } catch (IllegalAccessException e) {
            throw new AssertionError("a public class of this module: " + owner, e);
        }
        return Objects.requireNonNull(left.get(), owner.getName());
    }
}
