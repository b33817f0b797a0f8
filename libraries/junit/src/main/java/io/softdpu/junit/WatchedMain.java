package io.softdpu.junit;

import io.softdpu.core.process.ParentWatch;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Main class of each process of a test: runs another main class, and ends with the test's JVM. */
final class WatchedMain {
    private WatchedMain() {}

    /**
     * Runs a main class.
     *
     * @param arguments the folder of the test, the name of the class, and its arguments
     */
    public static void main(String[] arguments) throws Throwable {
        try (ParentWatch _ = ParentWatch.start(Path.of(arguments[0]))) {
            run(Class.forName(arguments[1]), Arrays.copyOfRange(arguments, 2, arguments.length));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** Calls the method that the java command would: with arguments or without, on an object. */
    private static void run(Class<?> type, String[] arguments) throws ReflectiveOperationException {
        Method withArguments = find(type, String[].class);
        Method main = withArguments == null ? find(type) : withArguments;
        if (main == null) {
            throw new NoSuchMethodException("class has no main method: class=" + type.getName());
        }
        Object object = null;
        if (!Modifier.isStatic(main.getModifiers())) {
            Constructor<?> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            object = constructor.newInstance();
        }
        main.setAccessible(true);
        if (withArguments == null) {
            main.invoke(object);
        } else {
            main.invoke(object, (Object) arguments);
        }
    }

    /** The main method of a class or of the nearest class above it; null if there is none. */
    private static @Nullable Method find(Class<?> type, Class<?>... parameters) {
        for (Class<?> owner = type; owner != null; owner = owner.getSuperclass()) {
            for (Method method : owner.getDeclaredMethods()) {
                if (method.getName().equals("main")
                        && Arrays.equals(method.getParameterTypes(), parameters)
                        && !Modifier.isPrivate(method.getModifiers())) {
                    return method;
                }
            }
        }
        return null;
    }
}
