package io.softdpu.linux;

import io.softdpu.linux.text.Text;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.Arrays;

/**
 * Bindings to functions of libc.
 *
 * <p>Pointers are bound as {@link #POINTER}, a plain long, if their memory is kept alive by other
 * means: calls with the same argument types then share one generated stub, which is most of the
 * cost of binding at start-up, and a call needs no segment.
 */
@SuppressWarnings("restricted") // binding native functions is what this class is for
final class Libc {
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    /** size_t, ssize_t, off_t and long: 64 bits on both supported architectures. */
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /** A pointer, passed as an address; in the same registers as any 64-bit integer. */
    static final ValueLayout.OfLong POINTER = ValueLayout.JAVA_LONG;

    private static final Linker LINKER = Linker.nativeLinker();

    private static final SymbolLookup SYMBOLS = LINKER.defaultLookup();

    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");

    /** Of syscall, whose first argument is the number. */
    private static final Linker.Option FIRST_VARIADIC = Linker.Option.firstVariadicArg(1);

    private Libc() {}

    /** Binds a function that sets errno: the handle's first argument is {@link CallState#errno}. */
    static MethodHandle bind(String name, MemoryLayout result, MemoryLayout... arguments) {
        return handle(name, FunctionDescriptor.of(result, arguments), ERRNO);
    }

    /** As {@link #bind}, for a function that is variadic from the given argument on. */
    static MethodHandle bindVariadic(
            String name, int firstVariadic, MemoryLayout result, MemoryLayout... arguments) {
        return handle(
                name,
                FunctionDescriptor.of(result, arguments),
                ERRNO,
                Linker.Option.firstVariadicArg(firstVariadic));
    }

    /** Binds a function that cannot fail, or whose errno is not read. */
    static MethodHandle bindPlain(
            String name, FunctionDescriptor descriptor, Linker.Option... options) {
        return handle(name, descriptor, options);
    }

    /**
     * Binds a system call that has no function, through {@code syscall}: all arguments are longs.
     *
     * @param name shown by {@link CountedCalls}
     */
    static MethodHandle bindSystemCall(String name, long number, int arguments) {
        return MethodHandles.insertArguments(
                handle(name, "syscall", systemCall(arguments), FIRST_VARIADIC, ERRNO), 1, number);
    }

    /** As {@link #bindSystemCall}, where errno is not read. */
    static MethodHandle bindPlainSystemCall(String name, long number, int arguments) {
        return MethodHandles.insertArguments(
                handle(name, "syscall", systemCall(arguments), FIRST_VARIADIC), 0, number);
    }

    private static FunctionDescriptor systemCall(int arguments) {
        MemoryLayout[] all = new MemoryLayout[1 + arguments];
        Arrays.fill(all, LONG);
        return FunctionDescriptor.of(LONG, all);
    }

    /** Rethrows an exception of a native call, which declares none. */
    static RuntimeException rethrow(Throwable thrown) {
        if (thrown instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        throw new IllegalStateException("native call threw a checked exception", thrown);
    }

    private static MethodHandle handle(
            String name, FunctionDescriptor descriptor, Linker.Option... options) {
        return handle(name, name, descriptor, options);
    }

    private static MethodHandle handle(
            String shown, String name, FunctionDescriptor descriptor, Linker.Option... options) {
        try {
            return CountedCalls.counted(
                    shown, LINKER.downcallHandle(symbol(name), descriptor, options));
        } catch (IllegalCallerException e) {
            throw new IllegalCallerException(
                    Text.format(
                            "native access is denied: function=%s, expected=the JVM option"
                                    + " --enable-native-access=%s",
                            name,
                            Libc.class.getModule().isNamed()
                                    ? Libc.class.getModule().getName()
                                    : "ALL-UNNAMED"),
                    e);
        }
    }

    private static MemorySegment symbol(String name) {
        return SYMBOLS.find(name)
                .orElseThrow(() ->
                        new UnsupportedOperationException("libc lacks a function: name=" + name));
    }
}
