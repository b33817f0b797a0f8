package io.softdpu.linux;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts, in tests, the calls of libc that each thread makes through this module, by the name of
 * the function. Enabled by {@code -Dsoftdpu.counted=true} when the JVM starts; otherwise nothing is
 * counted, and a call is what it is without this class. Any thread.
 *
 * <p>Calls of the JDK are not counted, such as those of {@code Thread.yield()}.
 */
public final class CountedCalls {
    /** The system property that enables counting. */
    public static final String PROPERTY = "softdpu.counted";

    private static final boolean COUNTED = Boolean.getBoolean(PROPERTY);

    private static final ThreadLocal<Map<String, Long>> COUNTS =
            ThreadLocal.withInitial(TreeMap::new);

    private CountedCalls() {}

    /**
     * Calls of this thread since it began, by the name of the function.
     *
     * @return a copy, sorted; empty if counting is disabled
     */
    public static Map<String, Long> ofThisThread() {
        return new TreeMap<>(COUNTS.get());
    }

    /** The function, or one that counts its calls. */
    static MethodHandle counted(String name, MethodHandle function) {
        if (!COUNTED) {
            return function;
        }
        try {
            MethodHandle count =
                    MethodHandles.lookup()
                            .findStatic(
                                    CountedCalls.class,
                                    "count",
                                    MethodType.methodType(void.class, String.class));
            return MethodHandles.foldArguments(
                    function, MethodHandles.insertArguments(count, 0, name));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // by its name
    private static void count(String name) {
        COUNTS.get().merge(name, 1L, Long::sum);
    }
}
