package io.softdpu.testkit;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the product made what it holds, as {@code io.softdpu.linux.Origins} records it. This module
 * knows that class by name only, since it imports no other; where the module {@code linux} is not
 * on the class path of the tests, nothing is recorded.
 */
final class OriginsReader {

    static final String RECORDER = "io.softdpu.linux.Origins";

    private static final @Nullable MethodHandle OPEN = find();

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

    private static @Nullable MethodHandle find() {
        ClassLoader loader = OriginsReader.class.getClassLoader();
        if (loader.getResource("io/softdpu/linux/package-info.class") == null) {
            return null;
        }
        try {
            return MethodHandles.publicLookup()
                    .findStatic(
                            Class.forName(RECORDER, true, loader),
                            "open",
                            MethodType.methodType(Map.class));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(
                    "origins of leaks not found, although the module linux is there: recorder="
                            + RECORDER
                            + ".open()",
                    e);
        }
    }
}
