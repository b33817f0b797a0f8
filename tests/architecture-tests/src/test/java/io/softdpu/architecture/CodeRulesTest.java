package io.softdpu.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaModifier.NATIVE;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.domain.properties.HasName;
import com.tngtech.archunit.core.domain.properties.HasOwner;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.io.Serializable;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** Rules about calls and dependencies of main code, with the permitted exceptions. */
class CodeRulesTest {

    private static final DescribedPredicate<JavaClass> PRODUCT =
            describe(
                    "are part of the product",
                    type -> !ProjectModules.group("tests").contains(ProjectModules.module(type)));

    private static final DescribedPredicate<JavaClass> LIBRARY =
            PRODUCT.and(
                    describe(
                            "not of the command",
                            type -> !ProjectModules.module(type).equals("cli")));

    private static final DescribedPredicate<JavaClass> WIRE =
            describe("are in a wire package", type -> type.getPackageName().endsWith(".wire"));

    private static final Set<String> CLOCKS =
            Set.of(
                    "java.lang.System.nanoTime",
                    "java.lang.System.currentTimeMillis",
                    "java.time.Instant.now",
                    "java.time.InstantSource.system",
                    "java.time.Clock.systemUTC",
                    "java.time.Clock.systemDefaultZone",
                    "java.time.LocalDateTime.now",
                    "java.time.ZonedDateTime.now");

    /**
     * Methods that open a file by its name, or pass the name on. Other forms of a constructor that
     * take an open stream count too: nothing in the product needs them.
     */
    private static final Set<String> OPENS =
            Set.of(
                    "java.nio.file.Files.readAllBytes",
                    "java.nio.file.Files.readString",
                    "java.nio.file.Files.readAllLines",
                    "java.nio.file.Files.lines",
                    "java.nio.file.Files.mismatch",
                    "java.nio.file.Files.copy",
                    "java.nio.file.Files.write",
                    "java.nio.file.Files.writeString",
                    "java.nio.file.Files.newBufferedReader",
                    "java.nio.file.Files.newBufferedWriter",
                    "java.nio.file.Files.newByteChannel",
                    "java.nio.file.Files.newInputStream",
                    "java.nio.file.Files.newOutputStream",
                    "java.nio.file.Path.toFile",
                    "java.nio.channels.FileChannel.open",
                    "java.nio.channels.AsynchronousFileChannel.open",
                    "java.io.File.<init>",
                    "java.io.FileInputStream.<init>",
                    "java.io.FileOutputStream.<init>",
                    "java.io.FileReader.<init>",
                    "java.io.FileWriter.<init>",
                    "java.io.PrintStream.<init>",
                    "java.io.PrintWriter.<init>",
                    "java.io.RandomAccessFile.<init>",
                    "java.util.Formatter.<init>",
                    "java.util.Scanner.<init>",
                    "java.util.jar.JarFile.<init>",
                    "java.util.zip.ZipFile.<init>",
                    "io.softdpu.linux.FileDescriptors.open",
                    "io.softdpu.linux.FileDescriptors.openAt");

    /** Methods that may open a file by its name, and why. */
    private static final Map<String, String> MAY_OPEN =
            Map.ofEntries(
                    Map.entry("io.softdpu.linux.file.CheckedFile.open", "examines the descriptor"),
                    Map.entry(
                            "io.softdpu.linux.file.CheckedFile.openDescriptorAt",
                            "examines the descriptor"),
                    Map.entry(
                            "io.softdpu.block.file.FileCreation.write",
                            "creates a file with O_EXCL, which opens no existing file"),
                    Map.entry(
                            "io.softdpu.block.file.FileCreation.syncFolder",
                            "opens a folder, with O_DIRECTORY, which does not block"),
                    Map.entry("io.softdpu.block.file.LockHolder.shows", "reads /proc/PID/fdinfo"),
                    Map.entry(
                            "io.softdpu.fabric.folder.FabricFolder.join",
                            "opens the folder itself, with O_DIRECTORY, which does not block"),
                    Map.entry(
                            "io.softdpu.fabric.folder.FolderReport.of",
                            "opens the folder itself, with O_DIRECTORY, which does not block"),
                    Map.entry(
                            "io.softdpu.fabric.folder.FabricFolder.connect",
                            "opens a path with O_PATH, which does not block, and examines it"),
                    Map.entry(
                            "io.softdpu.fabric.folder.NameLocks.lockFolder",
                            "opens the folder itself, with O_DIRECTORY, which does not block"),
                    Map.entry(
                            "io.softdpu.linux.MemoryLimits.lines",
                            "reads /proc and the files of cgroups in /sys; for Uring, too"),
                    Map.entry(
                            "io.softdpu.linux.FileDescriptors.reopen",
                            "opens the file of a descriptor"),
                    Map.entry("io.softdpu.fabric.folder.LockHolder.pidOf", "reads /proc/locks"),
                    Map.entry("io.softdpu.junit.ChildJvm.text", "reads /proc/PID/task/TID/stat"),
                    Map.entry(
                            "io.softdpu.junit.ChildMain.read",
                            "reads a file of the test, in a folder that is private to it"),
                    Map.entry(
                            "io.softdpu.junit.Children.start",
                            "creates a file with CREATE_NEW, which opens no existing file"),
                    Map.entry("io.softdpu.fabric.region.BusIdentity.readBootId", "reads /proc/sys"),
                    Map.entry("io.softdpu.rdma.roce.LocalNetwork.readBootId", "reads /proc/sys"),
                    Map.entry(
                            "io.softdpu.rdma.roce.nic.PortHolder.addLinks",
                            "reads /proc/net/udp and udp6"),
                    Map.entry("io.softdpu.perf.demo.CpuChoice.here", "reads /proc/self/status"),
                    Map.entry("io.softdpu.perf.result.MachineUse.now", "reads /proc/stat"),
                    Map.entry(
                            "io.softdpu.perf.result.MachineInfo.processorModelHere",
                            "reads /proc/cpuinfo"),
                    Map.entry(
                            "io.softdpu.perf.pair.SharedLine.<init>",
                            "opens to read and write, which blocks for no type, and maps it"),
                    Map.entry(
                            "io.softdpu.perf.child.JvmCommand.ofThisProcess",
                            "reads /proc/self/cmdline"),
                    Map.entry(
                            "io.softdpu.perf.child.ProcessMemory.lines",
                            "reads /proc/self/smaps_rollup and /proc/self/maps"));

    @Test
    void shouldOpenFilesByNameWhereTheDescriptorIsExaminedAlone() {
        noClasses()
                .that(PRODUCT)
                .should(access("a file by its name", OPENS::contains, MAY_OPEN.keySet()))
                .because("the type of a file is known only after it was opened: use CheckedFile")
                .check(ProjectModules.classes());
        assertThat(ProjectModules.classes().stream().filter(PRODUCT))
                .as("no exception is left over")
                .flatExtracting(type -> accesses(type))
                .filteredOn(access -> OPENS.contains(nameOf(access.getTarget())))
                .extracting(access -> nameOf(access.getOrigin()))
                .containsAll(MAY_OPEN.keySet());
    }

    /** Methods and options that remove a file, or its content, or put another in its place. */
    private static final Set<String> REMOVES =
            Set.of(
                    "java.nio.file.Files.delete",
                    "java.nio.file.Files.deleteIfExists",
                    "java.nio.file.Files.move",
                    "java.nio.file.StandardCopyOption.REPLACE_EXISTING",
                    "java.nio.file.StandardOpenOption.DELETE_ON_CLOSE",
                    "java.nio.file.StandardOpenOption.TRUNCATE_EXISTING",
                    "java.nio.channels.FileChannel.truncate",
                    "java.io.File.delete",
                    "java.io.File.deleteOnExit",
                    "java.io.File.renameTo",
                    "io.softdpu.linux.FileDescriptors.truncate",
                    "io.softdpu.linux.file.CheckedFile.replaceContent",
                    "io.softdpu.linux.file.CheckedFile.truncate");

    /** Methods that may remove a file, and why no file of the user is lost by that. */
    private static final Map<String, String> MAY_REMOVE =
            Map.ofEntries(
                    Map.entry(
                            "io.softdpu.block.file.FileCreation.createIfMissing",
                            "removes the other name of a file that it has made"),
                    Map.entry(
                            "io.softdpu.block.file.FileCreation.write",
                            "removes a file that it has made"),
                    Map.entry(
                            "io.softdpu.linux.file.OutputFile$Part.moveTo",
                            "moves a new file to a name that was examined"),
                    Map.entry(
                            "io.softdpu.linux.file.OutputFile$Part.write",
                            "writes a file that it has just made"),
                    Map.entry(
                            "io.softdpu.linux.file.OutputFile$Part.close",
                            "removes a file that it has made"),
                    Map.entry(
                            "io.softdpu.linux.file.OutputFile.replace",
                            "overwrites a file of any content that was examined"),
                    Map.entry(
                            "io.softdpu.linux.file.CheckedFile.replaceContent",
                            "of a file that was examined; its callers are in this table"),
                    Map.entry(
                            "io.softdpu.linux.file.CheckedFile.truncate",
                            "of a file that was examined; its callers are in this table"),
                    Map.entry(
                            "io.softdpu.linux.file.GrowingFile.create",
                            "empties a file that was examined, as one to be replaced"),
                    Map.entry(
                            "io.softdpu.linux.file.GrowingFile.append",
                            "removes the part of a piece that it has written itself"),
                    Map.entry("io.softdpu.linux.Memfd.allocate", "of memory, which has no name"),
                    Map.entry(
                            "io.softdpu.fabric.folder.NameLocks.write",
                            "in the fabric folder, which has no files of others"),
                    Map.entry(
                            "io.softdpu.linux.file.OutputFile.removeIfNamed",
                            "compares the file that has the name with the one that is meant"),
                    Map.entry(
                            "io.softdpu.fabric.folder.FabricFolder.agreeOnTopology",
                            "writes its file in the fabric folder, which has no files of others"),
                    Map.entry(
                            "io.softdpu.fabric.folder.NameLocks.delete",
                            "in the fabric folder, which has no files of others"),
                    Map.entry(
                            "io.softdpu.fabric.folder.SharedTextFile.update",
                            "in the fabric folder, which has no files of others"),
                    Map.entry(
                            "io.softdpu.fabric.folder.SharedTextFile.forget",
                            "in the fabric folder, which has no files of others"),
                    Map.entry(
                            "io.softdpu.fabric.folder.FolderReport.delete",
                            "in the fabric folder, a file that it has just made"),
                    Map.entry(
                            "io.softdpu.core.process.FolderTree.remove",
                            "a folder that softdpu has made, and its lock file"),
                    Map.entry(
                            "io.softdpu.core.process.FolderTree$Remover.visitFile",
                            "in a folder that softdpu has made; removes a link, not its target"),
                    Map.entry(
                            "io.softdpu.core.process.FolderTree$Remover.postVisitDirectory",
                            "a folder that softdpu has made"));

    @Test
    void shouldRemoveAndReplaceFilesWhereTheyAreKnownToBeOfSoftdpu() {
        noClasses()
                .that(PRODUCT)
                .should(access("what removes a file", REMOVES::contains, MAY_REMOVE.keySet()))
                .because("a name may be that of any file of the user: use OutputFile")
                .check(ProjectModules.classes());
        assertThat(ProjectModules.classes().stream().filter(PRODUCT))
                .as("no exception is left over")
                .flatExtracting(type -> accesses(type))
                .filteredOn(access -> REMOVES.contains(nameOf(access.getTarget())))
                .extracting(access -> nameOf(access.getOrigin()))
                .containsAll(MAY_REMOVE.keySet());
    }

    @Test
    void shouldReachMemoryByAddressOnlyWhereAReferenceIsHeld() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.softdpu.fabric.ring")
                .and()
                .doNotHaveFullyQualifiedName("io.softdpu.fabric.region.GenerationPage")
                .and()
                .doNotHaveFullyQualifiedName("io.softdpu.linux.NativeMemory")
                .should()
                .accessField("io.softdpu.linux.NativeMemory", "ALL_MEMORY")
                .because("nothing there checks bounds or lifetime")
                .check(ProjectModules.classes());
    }

    @Test
    void shouldKeepWirePackagesFreeOfInputAndOutput() {
        noClasses()
                .that(WIRE)
                .should()
                .dependOnClassesThat(
                        describe("do I/O, wait or call native code", CodeRulesTest::acts))
                .check(ProjectModules.classes());
    }

    private static boolean acts(JavaClass type) {
        String name = type.getPackageName();
        boolean value = type.isRecord() || type.isEnum() || type.isAssignableTo(Throwable.class);
        return name.matches("java\\.net|java\\.nio\\.(channels|file)(\\..*)?")
                || name.matches("java\\.util\\.concurrent(\\..*)?")
                || (name.matches("io\\.softdpu\\.(linux|fabric)(\\..*)?")
                        && !name.endsWith(".wire")
                        && !name.equals("io.softdpu.linux.text")
                        && !value)
                || (name.equals("java.io") && !value && !type.isEquivalentTo(Serializable.class))
                || type.isEquivalentTo(Thread.class)
                || type.isAssignableTo(Linker.class);
    }

    @Test
    void shouldKeepWirePackagesFreeOfClocks() {
        noClasses()
                .that(WIRE)
                .should(access("a clock", CLOCKS::contains))
                .check(ProjectModules.classes());
    }

    @Test
    void shouldPrintAndExitInTheCommandAlone() {
        Set<String> places =
                Set.of(
                        "java.lang.System.out",
                        "java.lang.System.err",
                        "java.lang.System.exit",
                        "java.lang.Runtime.exit",
                        "java.lang.Runtime.halt",
                        "java.lang.Throwable.printStackTrace");
        noClasses()
                .that(LIBRARY)
                .should(
                        access(
                                "standard streams or the exit",
                                places::contains,
                                // ends a process whose parent has ended
                                Set.of("io.softdpu.core.process.ParentWatch.endWithParent")))
                .check(ProjectModules.classes());
    }

    @Test
    void shouldNotSleep() {
        noClasses()
                .should(
                        access(
                                "sleep",
                                Set.of(
                                                Thread.class.getName() + ".sleep",
                                                TimeUnit.class.getName() + ".sleep")
                                        ::contains))
                .check(ProjectModules.classes());
    }

    @Test
    void shouldStayOffTheInsidesOfTheJdk() {
        noClasses()
                .should()
                .dependOnClassesThat(
                        JavaClass.Predicates.resideInAnyPackage(
                                        "sun..", "jdk.internal..", "com.sun..")
                                // exported to all modules, and documented
                                .and(
                                        DescribedPredicate.not(
                                                JavaClass.Predicates.resideInAPackage(
                                                        "com.sun.management"))))
                .check(ProjectModules.classes());
    }

    @Test
    void shouldHaveNoNativeCodeOfItsOwn() {
        methods()
                .should(
                        new ArchCondition<>("not be native") {
                            @Override
                            public void check(JavaMethod method, ConditionEvents events) {
                                if (method.getModifiers().contains(NATIVE)) {
                                    events.add(
                                            SimpleConditionEvent.violated(
                                                    method, method.getFullName() + " is native"));
                                }
                            }
                        })
                .check(ProjectModules.classes());
        Set<String> loading =
                Set.of(
                        "java.lang.System.load",
                        "java.lang.System.loadLibrary",
                        "java.lang.Runtime.load",
                        "java.lang.Runtime.loadLibrary");
        noClasses()
                .should(access("library loading", loading::contains))
                .check(ProjectModules.classes());
    }

    @Test
    void shouldCallNativeCodeFromLinuxAlone() {
        DescribedPredicate<JavaClass> linux =
                describe("belong to linux", type -> ProjectModules.module(type).equals("linux"));
        noClasses()
                .that(PRODUCT.and(DescribedPredicate.not(linux)))
                .should()
                .dependOnClassesThat()
                .areAssignableTo(Linker.class)
                .orShould()
                .dependOnClassesThat()
                .areAssignableTo(SymbolLookup.class)
                .check(ProjectModules.classes());
        assertThat(ProjectModules.classes().stream().filter(linux))
                .as("linux uses the linker, so the rule checks something")
                .anySatisfy(type ->
                        assertThat(type.getDirectDependenciesFromSelf())
                                .anyMatch(to -> to.getTargetClass().isAssignableTo(Linker.class)));
    }

    @Test
    void shouldDescribeEveryPackageAndMarkItNullMarked() {
        Set<JavaPackage> packages =
                ProjectModules.classes().stream()
                        .filter(type -> !type.getSimpleName().equals("module-info"))
                        .map(JavaClass::getPackage)
                        .collect(Collectors.toSet());

        assertThat(packages)
                .isNotEmpty()
                .allSatisfy(each ->
                        assertThat(each.isAnnotatedWith(NullMarked.class))
                                .as(each.getName() + " has a NullMarked package-info")
                                .isTrue());
    }

    @Test
    void shouldFindAnAccessThatIsForbidden() {
        // Tests the conditions themselves: this class does what they forbid.
        var self = new ClassFileImporter().importClasses(Forbidden.class);

        assertThat(
                        classes()
                                .should(access("a clock", CLOCKS::contains))
                                .evaluate(self)
                                .hasViolation())
                .isFalse();
        assertThat(
                        noClasses()
                                .should(access("a clock", CLOCKS::contains))
                                .evaluate(self)
                                .getFailureReport()
                                .getDetails())
                .hasSize(2);
    }

    /** Reads the clock directly, and by reference. */
    static final class Forbidden {

        long now() {
            return System.nanoTime();
        }

        LongSupplier clock() {
            return System::nanoTime;
        }
    }

    /** Calls, references and field accesses, by owner and name. */
    private static ArchCondition<JavaClass> access(String what, Predicate<String> wanted) {
        return access(what, wanted, Set.of());
    }

    /** Calls, references and field accesses, except from these methods. */
    private static ArchCondition<JavaClass> access(
            String what, Predicate<String> wanted, Set<String> exceptFrom) {
        return new ArchCondition<>("access " + what) {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                for (JavaAccess<?> access : accesses(type)) {
                    if (wanted.test(nameOf(access.getTarget()))
                            && !exceptFrom.contains(nameOf(access.getOrigin()))) {
                        events.add(SimpleConditionEvent.satisfied(type, access.getDescription()));
                    }
                }
            }
        };
    }

    private static Set<JavaAccess<?>> accesses(JavaClass type) {
        Set<JavaAccess<?>> accesses = new HashSet<>(type.getAccessesFromSelf());
        accesses.addAll(type.getMethodReferencesFromSelf());
        accesses.addAll(type.getConstructorReferencesFromSelf());
        return accesses;
    }

    private static <T extends HasName & HasOwner<JavaClass>> String nameOf(T member) {
        return member.getOwner().getName() + "." + member.getName();
    }
}
