package io.softdpu.testkit;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the places where the product created its resources, as {@code io.softdpu.linux.Origins}
 * records it, and which system calls {@code io.softdpu.linux.RestrictedThreads} has found on
 * threads that must not make them. This module knows those classes by name only, since it imports
 * no other; where the module {@code linux} is not on the class path of the tests, nothing is
 * recorded.
 */
final class OriginsReader {

    static final String RECORDER = "io.softdpu.linux.Origins";

    static final String CHECKER = "io.softdpu.linux.RestrictedThreads";

    private static final @Nullable MethodHandle OPEN = find(RECORDER, "open", Map.class);
    private static final @Nullable MethodHandle VIOLATIONS =
            find(CHECKER, "violations", List.class);

    private OriginsReader() {}

    /**
     * All places by key.
     *
     * @return empty where nothing is recorded
     */
    @SuppressWarnings("unchecked") // the contract of the recorder
    static Map<String, Throwable> open() {
        if (OPEN == null) {
            return Map.of();
        }
        try {
            return (Map<String, Throwable>) OPEN.invokeExact();
        } catch (Throwable e) {
            throw new IllegalStateException("origins not read: recorder=" + RECORDER, e);
        }
    }

    /**
     * System calls on threads that must not make them, since the JVM started.
     *
     * @return empty where nothing is checked
     */
    @SuppressWarnings("unchecked") // the contract of the checker
    static List<Throwable> violations() {
        if (VIOLATIONS == null) {
            return List.of();
        }
        try {
            return (List<Throwable>) VIOLATIONS.invokeExact();
        } catch (Throwable e) {
            throw new IllegalStateException("violations not read: checker=" + CHECKER, e);
        }
    }

    private static @Nullable MethodHandle find(String type, String method, Class<?> result) {
        ClassLoader loader = OriginsReader.class.getClassLoader();
        if (loader.getResource("io/softdpu/linux/package-info.class") == null) {
            return null;
        }
        try {
            return MethodHandles.publicLookup()
                    .findStatic(
                            Class.forName(type, true, loader),
                            method,
                            MethodType.methodType(result));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(
                    "not found, although the module linux is there: " + type + "." + method + "()",
                    e);
        }
    }
}
