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
import java.lang.module.ModuleDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rules of the layers: modules require only modules below them, and packages form no cycles. */
class LayersTest {
    /** Classes above fabric that record where resources were created. */
    private static final Set<String> ORIGIN_USERS =
            Set.of("io.softdpu.core.resource.ResourceTracking", "io.softdpu.core.sync.EventHold");

    /** Types of linux by which the control channels have TCP sockets of their own. */
    private static final Set<String> SOCKETS =
            Set.of(
                    "io.softdpu.linux.Errno",
                    "io.softdpu.linux.FileDescriptors",
                    "io.softdpu.linux.LinuxException",
                    "io.softdpu.linux.Socket",
                    "io.softdpu.linux.TcpSocket");

    /** Types of linux by which the network adapters of RDMA have UDP sockets. */
    private static final Set<String> DATAGRAMS =
            Set.of(
                    "io.softdpu.linux.Errno",
                    "io.softdpu.linux.LinuxException",
                    "io.softdpu.linux.OutgoingDatagrams",
                    "io.softdpu.linux.ReceivedDatagrams",
                    "io.softdpu.linux.ReceivedErrors",
                    "io.softdpu.linux.UdpSocket");

    static List<String> modules() {
        return ProjectModules.modules();
    }

    @Test
    void shouldBuildTheModuleOfTheseRulesLast() {
        // It depends on none, so Maven keeps the place that the parent pom gives it.
        assertThat(ProjectModules.modules()).last().isEqualTo("architecture-tests");
    }

    @Test
    void shouldHaveThreeGroupsOfModules() {
        assertThat(
                        Stream.of("libraries", "applications", "tests")
                                .map(ProjectModules::group)
                                .flatMap(List::stream))
                .containsExactlyInAnyOrderElementsOf(ProjectModules.modules());
    }

    @ParameterizedTest
    @MethodSource("modules")
    void shouldHaveClassesAndADescriptor(String module) {
        assertThat(ProjectModules.classes().stream().map(ProjectModules::module)).contains(module);
        assertThat(ProjectModules.descriptor(module).name())
                .isEqualTo(ProjectModules.descriptorName(module));
    }

    /** The order of the parent pom is the order of the layers, libraries lowest. */
    @ParameterizedTest
    @MethodSource("modules")
    void shouldRequireOnlyModulesNamedBeforeIt(String module) {
        List<String> modules = ProjectModules.modules();

        assertThat(modules.subList(0, modules.indexOf(module)))
                .containsAll(ProjectModules.requires(module));
    }

    /** An unused requirement would permit dependencies that nothing needs. */
    @ParameterizedTest
    @MethodSource("modules")
    void shouldUseTheModulesItRequires(String module) {
        Set<String> used =
                ProjectModules.classes().that(belongTo(module)).stream()
                        .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                        .flatMap(dependency ->
                                ProjectModules.moduleOf(dependency.getTargetClass()).stream())
                        .collect(Collectors.toSet());

        assertThat(used).containsAll(ProjectModules.requires(module));
    }

    /** An export to a module that does not use the package is unnecessary. */
    @ParameterizedTest
    @MethodSource("modules")
    void shouldExportToModulesThatUseThePackage(String module) {
        List<String> unused = new ArrayList<>();
        for (ModuleDescriptor.Exports export : ProjectModules.descriptor(module).exports()) {
            for (String target : export.targets()) {
                if (usersOf(export.source()).noneMatch(target::equals)) {
                    unused.add("package=" + export.source() + ", exported to=" + target);
                }
            }
        }
        assertThat(unused).isEmpty();
    }

    /** Names of the modules with a class that depends on one in a package. */
    private static Stream<String> usersOf(String packageName) {
        return ProjectModules.classes().stream()
                .filter(type ->
                        type.getDirectDependenciesFromSelf().stream()
                                .anyMatch(dependency ->
                                        dependency
                                                .getTargetClass()
                                                .getBaseComponentType()
                                                .getPackageName()
                                                .equals(packageName)))
                .map(type -> ProjectModules.descriptorName(ProjectModules.module(type)))
                .distinct();
    }

    /** Module descriptors state this too, but tests run on the class path, which ignores them. */
    @Test
    void shouldUseOfLinuxAboveFabricOnlyWhatItIsFor() {
        classes()
                .that(belongTo(usersOfLinuxAboveFabric()))
                .should(
                        dependOnlyOn(
                                "linux.text; linux.event from core and rdma.roce.nic, memmove from"
                                    + " its copier, and origins from core.resource and core.sync;"
                                    + " linux.file in block and above comch; all of linux from"
                                    + " block, core.process and cli.doctor, its sockets from"
                                    + " storage.control and rdma.roce.nic, its memory limits from"
                                    + " storage, perf and cli, processor time from perf.child, and"
                                    + " the width of the terminal from cli",
                                (from, to) ->
                                        !ProjectModules.moduleOf(to).equals(Optional.of("linux"))
                                                || mayUse(from, to)))
                .check(ProjectModules.classes());
    }

    /** By their descriptors; the compiler refuses any use to the others. */
    private static String[] usersOfLinuxAboveFabric() {
        List<String> modules = ProjectModules.modules();
        return modules.stream()
                .skip(modules.indexOf("fabric") + 1)
                .filter(module -> !ProjectModules.group("tests").contains(module))
                .filter(module -> ProjectModules.requires(module).contains("linux"))
                .toArray(String[]::new);
    }

    private static boolean mayUse(JavaClass from, JavaClass to) {
        String module = ProjectModules.moduleOf(from).orElseThrow();
        return switch (to.getPackageName()) {
            case "io.softdpu.linux.text" -> true;
            case "io.softdpu.linux.event" -> module.equals("core") || isOfNic(from);
            case "io.softdpu.linux.file" ->
                    !Set.of("core", "comch").contains(module)
                            || from.getPackageName().equals("io.softdpu.core.process");
            default ->
                    module.equals("block")
                            || from.getPackageName().equals("io.softdpu.core.process")
                            || (from.getName().equals("io.softdpu.core.copy.Copier")
                                    && to.getName().equals("io.softdpu.linux.NativeMemory"))
                            || (ORIGIN_USERS.contains(from.getName())
                                    && to.getName().equals("io.softdpu.linux.Origins"))
                            || (from.getPackageName().equals("io.softdpu.storage.control")
                                    && SOCKETS.contains(to.getName()))
                            || (isOfNic(from) && DATAGRAMS.contains(to.getName()))
                            || from.getPackageName().equals("io.softdpu.cli.doctor")
                            || (module.equals("cli")
                                    && to.getName().equals("io.softdpu.linux.TerminalWindow"))
                            || (from.getPackageName().equals("io.softdpu.perf.child")
                                    && to.getName().equals("io.softdpu.linux.ProcessTime"))
                            || (Set.of("storage", "perf", "cli").contains(module)
                                    && to.getName().startsWith("io.softdpu.linux.MemoryLimits"));
        };
    }

    private static boolean isOfNic(JavaClass from) {
        return from.getPackageName().equals("io.softdpu.rdma.roce.nic");
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
                .check(ProjectModules.classes());
    }

    /** The command finds them by ServiceLoader; no class of it uses them, so its pom names them. */
    @Test
    void shouldHaveTheServiceProvidersOfAllLibrariesInTheCommand() {
        assertThat(ProjectModules.requires("testkit"))
                .as("the class path of these tests has libraries of the command alone")
                .isEmpty();

        List<String> missing = new ArrayList<>();
        int found = 0;
        for (String module : ProjectModules.group("libraries")) {
            for (ModuleDescriptor.Provides service : ProjectModules.descriptor(module).provides()) {
                for (String provider : service.providers()) {
                    found++;
                    if (!isOnTheClassPath(provider)) {
                        missing.add("provider=" + provider + ", module=" + module);
                    }
                }
            }
        }
        assertThat(found).isPositive();
        assertThat(missing).as("not among the dependencies of cli").isEmpty();
    }

    private static boolean isOnTheClassPath(String type) {
        String file = type.replace('.', '/') + ".class";
        return LayersTest.class.getClassLoader().getResource(file) != null;
    }

    /** The libraries except those that use third-party libraries. */
    private static String[] jdkOnly() {
        return ProjectModules.group("libraries").stream()
                .filter(module -> !Set.of("topology-json", "junit", "storage").contains(module))
                .toArray(String[]::new);
    }

    @Test
    void shouldNeedTheJdkAlone() {
        classes()
                .that(belongTo(jdkOnly()))
                .should(
                        dependOnlyOn(
                                "the JDK and this project",
                                (from, to) ->
                                        to.getBaseComponentType().isPrimitive()
                                                || to.getBaseComponentType()
                                                        .getPackageName()
                                                        .matches(
                                                                "java\\..*|io\\.softdpu\\..*"
                                                                    + "|org\\.jspecify\\..*"
                                                                    + "|com\\.google\\.errorprone\\..*")))
                .check(ProjectModules.classes());
    }

    @Test
    void shouldHaveNoCyclesBetweenPackages() {
        SlicesRuleDefinition.slices()
                .matching("io.softdpu.(**)")
                .should()
                .beFreeOfCycles()
                .check(ProjectModules.classes());
    }

    private static DescribedPredicate<JavaClass> belongTo(String... modules) {
        return DescribedPredicate.describe(
                "belong to " + String.join(", ", modules),
                type -> List.of(modules).contains(ProjectModules.module(type)));
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
