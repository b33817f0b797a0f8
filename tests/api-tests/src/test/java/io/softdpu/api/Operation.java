package io.softdpu.api;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One entry point of the API: a public constructor or method, as a type offers it.
 *
 * @param type the public type whose users call it; a method may be declared further up
 * @param executable what is called
 */
record Operation(Class<?> type, Executable executable) {

    /** As the tables name it, without the type: {@code setMessage(MemorySegment, long, int)}. */
    String signature() {
        return name()
                + Arrays.stream(executable.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    /** {@code new} for a constructor. */
    String name() {
        return executable instanceof Constructor ? "new" : executable.getName();
    }

    /** Key in the registry, for example {@code ComchClient.create}. */
    String key() {
        return Api.nameOf(type) + "." + name();
    }

    boolean needsReceiver() {
        return executable instanceof Method && !Modifier.isStatic(executable.getModifiers());
    }

    List<Parameter> parameters() {
        return List.of(executable.getParameters());
    }

    /** Whether null may be given for a parameter: its type says so. */
    boolean allowsNull(int parameter) {
        return executable.getAnnotatedParameterTypes()[parameter].isAnnotationPresent(
                Nullable.class);
    }

    /** Calls it; what it throws comes out as it is. */
    @Nullable Object invoke(@Nullable Object receiver, @Nullable Object[] arguments)
            throws Throwable {
        executable.setAccessible(true); // public in a base class that is not
        try {
            return executable instanceof Constructor<?> constructor
                    ? constructor.newInstance(arguments)
                    : ((Method) executable).invoke(receiver, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Override
    public String toString() {
        return Api.nameOf(type) + "." + signature();
    }
}
