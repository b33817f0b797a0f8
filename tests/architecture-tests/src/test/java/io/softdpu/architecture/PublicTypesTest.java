package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import io.softdpu.linux.text.Text;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks that public classes hide from users what is for libraries: no member, inherited ones
 * included, mentions a type that users cannot name, and no supertype has a hook. Libraries that do
 * not use the bus see no type of it.
 */
class PublicTypesTest {
    private static final String OURS = "io.softdpu.";
    private static final Set<String> EXPORTED = ProjectModules.exportedPackages();

    @Test
    void shouldShowUsersOnlyTypesThatTheyCanName() throws ClassNotFoundException {
        List<String> wrong = new ArrayList<>();
        for (JavaClass type : ProjectModules.classes()) {
            if (EXPORTED.contains(type.getPackageName())) {
                Class<?> loaded = ProjectModules.load(type.getName());
                if (isForUsers(loaded)) {
                    wrong.addAll(wrongWith(loaded));
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    /** A library or a provider that may not import fabric compiles against the rest. */
    @Test
    void shouldShowTypesOfTheBusInBusServicesAlone() throws ClassNotFoundException {
        Set<String> showing = new LinkedHashSet<>();
        for (JavaClass type : ProjectModules.classes()) {
            if (type.getPackageName().matches("io\\.softdpu\\.(core|rdma)\\.(spi|check|copy)")) {
                members(ProjectModules.load(type.getName()), true)
                        .filter(member -> isVisible(member))
                        .flatMap(member -> mentioned(member).stream())
                        .filter(shown -> shown.getPackageName().startsWith(OURS + "fabric"))
                        .forEach(shown -> showing.add(type.getName()));
            }
        }
        assertThat(showing).containsExactly("io.softdpu.core.spi.BusServices");
    }

    @Test
    void shouldNoticeABaseOfLibraries() throws ClassNotFoundException {
        assertThat(wrongWith(ProjectModules.load("io.softdpu.compute.DmaContext")))
                .contains("io.softdpu.compute.DmaContext is a io.softdpu.core.spi.ContextBase")
                .contains("io.softdpu.compute.DmaContext has a hook in ContextBase.onStart")
                .contains("io.softdpu.compute.DmaContext has a hook in DmaContext.newJobQueue")
                .contains(
                        "io.softdpu.compute.DmaContext shows io.softdpu.core.copy.Copier in"
                                + " ContextBase.copier")
                .contains(
                        "io.softdpu.compute.DmaContext shows io.softdpu.core.spi.JobQueue in"
                                + " DmaContext.newJobQueue");
        assertThat(wrongWith(ProjectModules.load("io.softdpu.compute.MemcpyTask")))
                .contains("io.softdpu.compute.MemcpyTask is a io.softdpu.core.spi.TaskBase")
                .contains("io.softdpu.compute.MemcpyTask has a hook in TaskBase.onSubmit");
        assertThat(wrongWith(ProjectModules.load("io.softdpu.compute.Dma"))).isEmpty();
    }

    private static List<String> wrongWith(Class<?> type) {
        List<String> wrong = new ArrayList<>();
        for (Class<?> declaring : withSupertypes(type)) {
            if (!isForUsers(declaring) && !isHiddenBase(declaring)) {
                wrong.add(Text.format("%s is a %s", type.getName(), declaring.getName()));
            }
            if (!mayBeExtended(type)) {
                members(declaring, false)
                        .filter(member -> isVisible(member))
                        .filter(member -> Modifier.isProtected(member.getModifiers()))
                        .map(member ->
                                Text.format(
                                        "%s has a hook in %s.%s",
                                        type.getName(),
                                        declaring.getSimpleName(),
                                        member.getName()))
                        .forEach(wrong::add);
            }
            members(declaring, declaring == type)
                    .filter(member -> isVisible(member))
                    .forEach(member ->
                            mentioned(member).stream()
                                    .filter(shown -> !isForUsers(shown))
                                    .map(shown ->
                                            Text.format(
                                                    "%s shows %s in %s.%s",
                                                    type.getName(),
                                                    shown.getName(),
                                                    declaring.getSimpleName(),
                                                    member.getName()))
                                    .forEach(wrong::add));
        }
        return wrong;
    }

    /** The type and what it extends and implements, as far as it belongs to this project. */
    private static Set<Class<?>> withSupertypes(Class<?> type) {
        Set<Class<?>> all = new LinkedHashSet<>();
        collectSupertypes(type, all);
        return all;
    }

    private static void collectSupertypes(Class<?> type, Set<Class<?>> into) {
        if (type.getName().startsWith(OURS) && into.add(type)) {
            if (type.getSuperclass() != null) {
                collectSupertypes(type.getSuperclass(), into);
            }
            for (Class<?> parent : type.getInterfaces()) {
                collectSupertypes(parent, into);
            }
        }
    }

    private static Stream<Member> members(Class<?> type, boolean withConstructors) {
        Stream<Member> members =
                Stream.concat(
                        Arrays.stream(type.getDeclaredMethods()),
                        Arrays.stream(type.getDeclaredFields()));
        return withConstructors
                ? Stream.concat(members, Arrays.stream(type.getDeclaredConstructors()))
                : members;
    }

    private static boolean isVisible(Member member) {
        return !member.isSynthetic()
                && (Modifier.isPublic(member.getModifiers())
                        || Modifier.isProtected(member.getModifiers()));
    }

    private static Set<Class<?>> mentioned(Member member) {
        Set<Class<?>> types = new LinkedHashSet<>();
        switch (member) {
            case Field field -> collectTypes(field.getGenericType(), types);
            case Method method -> {
                collectTypes(method.getGenericReturnType(), types);
                collectParameters(method, types);
            }
            case Constructor<?> constructor -> collectParameters(constructor, types);
            default -> throw new IllegalStateException("no such kind of member: " + member);
        }
        return types;
    }

    private static void collectParameters(Executable executable, Set<Class<?>> into) {
        for (Type parameter : executable.getGenericParameterTypes()) {
            collectTypes(parameter, into);
        }
        for (Type thrown : executable.getGenericExceptionTypes()) {
            collectTypes(thrown, into);
        }
        for (TypeVariable<?> variable : executable.getTypeParameters()) {
            for (Type bound : variable.getBounds()) {
                if (bound instanceof Class<?> type) {
                    into.add(type);
                }
            }
        }
    }

    private static void collectTypes(Type mentioned, Set<Class<?>> into) {
        switch (mentioned) {
            case Class<?> type when type.isArray() -> collectTypes(type.getComponentType(), into);
            case Class<?> type -> into.add(type);
            case ParameterizedType type -> {
                collectTypes(type.getRawType(), into);
                for (Type argument : type.getActualTypeArguments()) {
                    collectTypes(argument, into);
                }
            }
            case GenericArrayType type -> collectTypes(type.getGenericComponentType(), into);
            case WildcardType type -> {
                for (Type bound : type.getUpperBounds()) {
                    collectTypes(bound, into);
                }
            }
            default -> {} // a type variable, whose bounds stand where it is declared
        }
    }

    /** Whether it is a base that Javadoc leaves out: its members stand with the class below it. */
    private static boolean isHiddenBase(Class<?> type) {
        return !Modifier.isPublic(type.getModifiers()) && EXPORTED.contains(type.getPackageName());
    }

    /** Whether a program can extend it, and so has a use for what is protected. */
    private static boolean mayBeExtended(Class<?> type) {
        return !Modifier.isFinal(type.getModifiers())
                && !type.isSealed()
                && Arrays.stream(type.getDeclaredConstructors()).anyMatch(made -> isVisible(made));
    }

    /** Whether a program can name it: a type of the JDK, or a public one of an exported package. */
    private static boolean isForUsers(Class<?> type) {
        if (!type.getName().startsWith(OURS)) {
            return true;
        }
        Class<?> outer = type.getEnclosingClass();
        return Modifier.isPublic(type.getModifiers())
                && EXPORTED.contains(type.getPackageName())
                && (outer == null || isForUsers(outer));
    }
}
