package io.softdpu.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A module imports only what stands below it. */
class FloorsTest {
    /** Types of linux by which the control channels have TCP sockets of their own. */
    private static final Set<String> SOCKETS =
            Set.of(
                    "io.softdpu.linux.Errno",
                    "io.softdpu.linux.FileDescriptors",
                    "io.softdpu.linux.LinuxException",
                    "io.softdpu.linux.Socket",
                    "io.softdpu.linux.TcpSocket");

    static List<String> modules() {
        return House.modules();
    }

    @Test
    void shouldGiveEveryModuleAFloor() {
        assertThat(House.modules()).containsExactlyInAnyOrderElementsOf(House.MAY_IMPORT.keySet());
    }

    @Test
    void shouldBuildThisModuleAfterAllOthers() {
        String pom = House.read(House.folder("architecture-tests").resolve("pom.xml"));

        assertThat(House.modules())
                .allSatisfy(module ->
                        assertThat(pom).contains("<artifactId>" + module + "</artifactId>"));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void shouldHaveClassesAndADescriptor(String module) {
        assertThat(House.classes().stream().map(House::module)).contains(module);
        assertThat(House.read(House.folder(module).resolve("src/main/java/module-info.java")))
                .contains("module io.softdpu." + module.replace('-', '.') + " {");
    }

    @ParameterizedTest
    @MethodSource("modules")
    void shouldImportOnlyWhatStandsBelow(String module) {
        classes()
                .that(belongTo(module))
                .should(
                        dependOnlyOn(
                                "modules below " + module,
                                (from, to) ->
                                        House.moduleOf(to)
                                                .filter(target -> !target.equals(module))
                                                .filter(target ->
                                                        !House.MAY_IMPORT
                                                                .get(module)
                                                                .contains(target))
                                                .isEmpty()))
                .check(House.classes());
    }

    /** The module descriptor says so too; the class path, on which tests run, does not. */
    @Test
    void shouldUseOfLinuxAboveFabricOnlyWhatItIsFor() {
        classes()
                .that(
                        belongTo(
                                "core",
                                "comch",
                                "topology-json",
                                "storage",
                                "samples",
                                "perf",
                                "cli"))
                .should(
                        dependOnlyOn(
                                "linux.text; linux.event from core, and memmove from its copier;"
                                        + " linux.file above comch; all of linux from"
                                        + " storage.backend, its sockets from storage.control, and"
                                        + " of storage its memory limits",
                                (from, to) ->
                                        !House.moduleOf(to).equals(Optional.of("linux"))
                                                || mayUse(from, to)))
                .check(House.classes());
    }

    private static boolean mayUse(JavaClass from, JavaClass to) {
        String module = House.moduleOf(from).orElseThrow();
        return switch (to.getPackageName()) {
            case "io.softdpu.linux.text" -> true;
            case "io.softdpu.linux.event" -> module.equals("core");
            case "io.softdpu.linux.file" -> !Set.of("core", "comch").contains(module);
            default ->
                    from.getPackageName().startsWith("io.softdpu.storage.backend")
                            || (from.getName().equals("io.softdpu.core.copy.Copier")
                                    && to.getName().equals("io.softdpu.linux.NativeMemory"))
                            || (from.getPackageName().equals("io.softdpu.storage.control")
                                    && SOCKETS.contains(to.getName()))
                            || (module.equals("storage")
                                    && to.getName().equals("io.softdpu.linux.MemoryLimits"));
        };
    }

    @Test
    void shouldKeepServiceProviderPackagesAmongTheLibraries() {
        classes()
                .that(belongTo("storage", "perf", "cli"))
                .should(
                        dependOnlyOn(
                                "public packages",
                                (from, to) ->
                                        !to.getPackageName()
                                                .matches("io\\.softdpu\\..*\\.(spi|check)")))
                .check(House.classes());
    }

    @Test
    void shouldNeedTheJdkAloneUpToRdma() {
        classes()
                .that(belongTo(House.JDK_ONLY.toArray(String[]::new)))
                .should(
                        dependOnlyOn(
                                "the JDK and this project",
                                (from, to) ->
                                        to.getBaseComponentType().isPrimitive()
                                                || to.getBaseComponentType()
                                                        .getPackageName()
                                                        .matches(
                                                                "java\\..*|io\\.softdpu\\..*"
                                                                        + "|org\\.jspecify\\..*")))
                .check(House.classes());
    }

    @Test
    void shouldHaveNoCyclesBetweenPackages() {
        SlicesRuleDefinition.slices()
                .matching("io.softdpu.(**)")
                .should()
                .beFreeOfCycles()
                .check(House.classes());
    }

    private static DescribedPredicate<JavaClass> belongTo(String... modules) {
        return DescribedPredicate.describe(
                "belong to " + String.join(", ", modules),
                type -> List.of(modules).contains(House.module(type)));
    }

    private static ArchCondition<JavaClass> dependOnlyOn(
            String what, BiPredicate<JavaClass, JavaClass> allowed) {
        return new ArchCondition<>("depend only on " + what) {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                    if (!allowed.test(type, dependency.getTargetClass())) {
                        events.add(
                                SimpleConditionEvent.violated(type, dependency.getDescription()));
                    }
                }
            }
        };
    }
}
