package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import io.softdpu.core.execution.Deadline;
import io.softdpu.linux.text.Text;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Checks that the public API has one style: times are durations, and each setter returns the object
 * that it configures.
 */
class ApiStyleTest {
    private static final String OURS = "io.softdpu.";

    /** Support for the tests of this project, not for its users. */
    private static final String TESTKIT = OURS + "testkit";

    private static final Set<String> EXPORTED = ProjectModules.exportedPackages();

    /** A time by its name. A nanoTime is a point in time, which has no unit of its own. */
    private static final Pattern TIME =
            Pattern.compile(
                    "(?i).*(nanos|micros|millis|seconds|minutes|timeout|delay|duration)(_?per_?byte)?");

    private static final Set<Class<?>> NUMBERS = Set.of(int.class, long.class, double.class);

    /** Members with a time as a number, by class, or by class and name; and why. */
    private static final Map<String, String> NUMBERS_ALLOWED =
            Map.of(
                    "LatencySummary", "values of a histogram of nanoseconds, and their mean",
                    "StorageDefaults.INACTIVITY_NANOS_PER_BYTE", "a rate, not a time");

    @Test
    void shouldGiveTimesAsDurations() throws ClassNotFoundException {
        List<String> wrong = new ArrayList<>();
        for (Class<?> type : typesForUsers()) {
            wrong.addAll(timesAsNumbers(type));
        }
        assertThat(wrong).isEmpty();
    }

    /** One constant stands for a wait without a limit, in all calls that take a timeout. */
    @Test
    void shouldHaveOneNameForNoLimit() throws ReflectiveOperationException {
        List<String> names = new ArrayList<>();
        for (Class<?> type : typesForUsers()) {
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isPublic(field.getModifiers())
                        && Modifier.isStatic(field.getModifiers())
                        && field.get(null) instanceof Duration duration
                        && duration.compareTo(Deadline.NO_LIMIT) >= 0) {
                    names.add(name(type) + "." + field.getName());
                }
            }
        }
        assertThat(names).containsExactly("Deadline.NO_LIMIT");
    }

    @Test
    void shouldReturnTheObjectFromEachSetter() throws ClassNotFoundException {
        List<String> wrong = new ArrayList<>();
        for (Class<?> type : typesForUsers()) {
            wrong.addAll(settersThatReturnSomethingElse(type));
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void shouldAllowNothingThatDoesNotExist() throws ClassNotFoundException {
        List<String> members = new ArrayList<>();
        for (Class<?> type : typesForUsers()) {
            members.addAll(members(type));
        }
        assertThat(members).containsAll(NUMBERS_ALLOWED.keySet());
    }

    @Test
    void shouldNoticeWhatIsOfAnotherStyle() {
        assertThat(timesAsNumbers(Wrong.class))
                .containsExactlyInAnyOrder(
                        "Wrong.DELAY_NANOS",
                        "Wrong.setTimeout(timeout)",
                        "Wrong.periodMillis",
                        "Wrong.Wrong(delayNanos)");
        assertThat(settersThatReturnSomethingElse(Wrong.class)).containsExactly("Wrong.setDelay");
        assertThat(settersThatReturnSomethingElse(WrongChild.class))
                .containsExactlyInAnyOrder("WrongChild.setDelay", "WrongChild.setPlain");
    }

    private static List<String> timesAsNumbers(Class<?> type) {
        List<String> wrong = new ArrayList<>();
        String name = name(type);
        for (Field field : type.getDeclaredFields()) {
            if (Modifier.isPublic(field.getModifiers())
                    && isTime(field.getName(), field.getType())) {
                wrong.add(name + "." + field.getName());
            }
        }
        for (Method method : type.getDeclaredMethods()) {
            if (Modifier.isPublic(method.getModifiers()) && !method.isSynthetic()) {
                if (isTime(method.getName(), method.getReturnType())) {
                    wrong.add(name + "." + method.getName());
                }
                wrong.addAll(timesAmongParameters(name, method.getName(), method));
            }
        }
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            if (Modifier.isPublic(constructor.getModifiers())) {
                wrong.addAll(timesAmongParameters(name, type.getSimpleName(), constructor));
            }
        }
        wrong.removeIf(member -> isAllowed(type, member));
        return wrong;
    }

    private static List<String> timesAmongParameters(String type, String name, Executable of) {
        List<String> wrong = new ArrayList<>();
        for (Parameter parameter : of.getParameters()) {
            assertThat(parameter.isNamePresent()).as("names of parameters: %s", of).isTrue();
            if (isTime(parameter.getName(), parameter.getType())) {
                wrong.add(Text.format("%s.%s(%s)", type, name, parameter.getName()));
            }
        }
        return wrong;
    }

    private static boolean isTime(String name, Class<?> type) {
        return NUMBERS.contains(type) && TIME.matcher(name).matches();
    }

    private static boolean isAllowed(Class<?> type, String member) {
        return NUMBERS_ALLOWED.containsKey(name(type))
                || NUMBERS_ALLOWED.containsKey(member.replaceFirst("\\(.*", ""));
    }

    /** Inherited setters included: the type itself has to be returned. */
    private static List<String> settersThatReturnSomethingElse(Class<?> type) {
        List<Method> all =
                Arrays.stream(type.getMethods())
                        .filter(method -> !Modifier.isStatic(method.getModifiers()))
                        .filter(method -> method.getDeclaringClass().getName().startsWith(OURS))
                        .filter(method -> method.getName().matches("set[A-Z].*"))
                        .toList();
        return all.stream()
                .filter(method -> all.stream().noneMatch(other -> overrides(other, method, type)))
                .map(method -> name(type) + "." + method.getName())
                .distinct()
                .toList();
    }

    private static boolean overrides(Method other, Method method, Class<?> type) {
        return other.getName().equals(method.getName())
                && Arrays.equals(other.getParameterTypes(), method.getParameterTypes())
                && type.isAssignableFrom(other.getReturnType());
    }

    private static List<String> members(Class<?> type) {
        List<String> names = new ArrayList<>();
        String name = name(type);
        names.add(name);
        Arrays.stream(type.getDeclaredMethods()).forEach(m -> names.add(name + "." + m.getName()));
        Arrays.stream(type.getDeclaredFields()).forEach(f -> names.add(name + "." + f.getName()));
        return names;
    }

    private static String name(Class<?> type) {
        Class<?> outer = type.getEnclosingClass();
        return outer == null || outer == ApiStyleTest.class
                ? type.getSimpleName()
                : name(outer) + "." + type.getSimpleName();
    }

    private static List<Class<?>> typesForUsers() throws ClassNotFoundException {
        List<Class<?>> types = new ArrayList<>();
        for (JavaClass type : ProjectModules.classes()) {
            if (EXPORTED.contains(type.getPackageName())
                    && !type.getPackageName().startsWith(TESTKIT)) {
                Class<?> loaded = ProjectModules.load(type.getName());
                if (isForUsers(loaded)) {
                    types.add(loaded);
                }
            }
        }
        assertThat(types).hasSizeGreaterThan(100);
        return types;
    }

    private static boolean isForUsers(Class<?> type) {
        Class<?> outer = type.getEnclosingClass();
        return Modifier.isPublic(type.getModifiers()) && (outer == null || isForUsers(outer));
    }

    /** Of another style, and read by reflection alone. */
    @SuppressWarnings("unused")
    public static class Wrong {
        public static final long DELAY_NANOS = 1;

        public Wrong(long delayNanos) {}

        public Wrong setTimeout(int timeout) {
            return this;
        }

        public void setDelay(Duration delay) {}

        public long periodMillis() {
            return 1;
        }

        public Wrong setPlain(int size) {
            return this;
        }
    }

    /** Inherits a setter that returns its parent. */
    public static class WrongChild extends Wrong {
        public WrongChild() {
            super(0);
        }

        @Override
        public WrongChild setTimeout(int timeout) {
            return this;
        }
    }
}
