package io.softdpu.core.internal.access;

import java.lang.invoke.MethodHandles;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Loads a class and returns the access object that it installs. */
final class ClassLoading {
    private ClassLoading() {}

    /** Runs the owner's static initialiser, unless it has run, and returns the installed object. */
    static <T> T access(Class<?> owner, Supplier<@Nullable T> left) {
        try {
            MethodHandles.lookup().ensureInitialized(owner);
        } catch (IllegalAccessException e) {
            throw new AssertionError("a public class of this module: " + owner, e);
        }
        return Objects.requireNonNull(left.get(), owner.getName());
    }

    /**
     * Checks that an access object was installed for the requested classes, which are then its type
     * parameters.
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
