package io.softdpu.core.internal.access;

import java.lang.invoke.MethodHandles;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Makes sure that a class has handed over its access object. */
final class ClassLoading {
    private ClassLoading() {}

    /** Runs the owner's static initialiser, unless it has run, and then takes what it left. */
    static <T> T access(Class<?> owner, Supplier<@Nullable T> left) {
        try {
            MethodHandles.lookup().ensureInitialized(owner);
        } catch (IllegalAccessException e) {
            throw new AssertionError("a public class of this module: " + owner, e);
        }
        return Objects.requireNonNull(left.get(), owner.getName());
    }

    /**
     * Checks that an access object is for the classes that it is asked for, of which it was given
     * the tokens: after that its type parameters are these classes.
     */
    static void require(Object installedFor, Object askedFor) {
        if (!installedFor.equals(askedFor)) {
            throw new AssertionError(
                    "access is for other classes: installed="
                            + installedFor
                            + ", asked="
                            + askedFor);
        }
    }
}
