package io.softdpu.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The modules of the build, their floors, and their main classes. The floors are those of
 * docs/ARCHITECTURE.md: a module imports what its entry names and nothing else of this project.
 */
final class House {

    /** What each module may import. One that is not listed here does not belong to the house. */
    static final Map<String, Set<String>> MAY_IMPORT =
            new TreeMap<>(
                    Map.ofEntries(
                            Map.entry("testkit", Set.of()),
                            Map.entry("linux", Set.of()),
                            Map.entry("fabric", Set.of("linux")),
                            Map.entry("core", Set.of("fabric", "linux")),
                            Map.entry("compute", Set.of("core")),
                            Map.entry("topology-json", Set.of("core", "linux")),
                            Map.entry("comch", Set.of("core", "fabric", "linux")),
                            Map.entry("rdma", Set.of("core")),
                            Map.entry("rdma-contract", Set.of("rdma", "core", "testkit")),
                            Map.entry("rdma-shm", Set.of("rdma", "core", "fabric")),
                            Map.entry("storage", Set.of("core", "comch", "rdma", "linux")),
                            Map.entry("samples", Set.of("core", "compute", "comch", "linux")),
                            Map.entry("perf", Set.of("storage", "comch", "core", "linux")),
                            Map.entry(
                                    "cli",
                                    Set.of(
                                            "perf",
                                            "samples",
                                            "storage",
                                            "topology-json",
                                            "rdma",
                                            "core",
                                            "linux")),
                            Map.entry("api-tests", Set.of()),
                            Map.entry("jcstress", Set.of()),
                            Map.entry("fuzz-tests", Set.of()),
                            Map.entry("benchmarks", Set.of()),
                            Map.entry("architecture-tests", Set.of())));

    /** Test support: they may do what the product may not, such as printing and waiting. */
    static final Set<String> TEST_SUPPORT =
            Set.of(
                    "testkit",
                    "rdma-contract",
                    "api-tests",
                    "jcstress",
                    "fuzz-tests",
                    "benchmarks",
                    "architecture-tests");

    /** Need the JDK alone at run time. */
    static final Set<String> JDK_ONLY =
            Set.of("linux", "fabric", "core", "compute", "comch", "rdma", "rdma-shm");

    private static final Pattern EXPORTS =
            Pattern.compile("^ *exports ([\\w.]+);", Pattern.MULTILINE);

    static final Path ROOT = Path.of("").toAbsolutePath().getParent().getParent();

    private static final Map<String, Path> FOLDERS = folders();

    private static final JavaClasses CLASSES =
            new ClassFileImporter()
                    .importPaths(
                            modules().stream()
                                    .map(module -> folder(module).resolve("target/classes"))
                                    .filter(Files::isDirectory)
                                    .toList());

    private static final Map<String, String> MODULE_OF_CLASS =
            CLASSES.stream().collect(Collectors.toMap(JavaClass::getName, House::moduleBySource));

    private House() {}

    /** The modules that the parent pom names, in its order. */
    static List<String> modules() {
        return List.copyOf(FOLDERS.keySet());
    }

    /** The folder of a module. */
    static Path folder(String module) {
        return Objects.requireNonNull(FOLDERS.get(module), module);
    }

    private static Map<String, Path> folders() {
        Map<String, Path> folders = new LinkedHashMap<>();
        Pattern.compile("<module>([^<]+)</module>")
                .matcher(read(ROOT.resolve("pom.xml")))
                .results()
                .map((MatchResult result) -> ROOT.resolve(result.group(1)))
                .forEach(folder -> folders.put(folder.getFileName().toString(), folder));
        return Collections.unmodifiableMap(folders);
    }

    /** Packages that a module exports to everybody. */
    static Set<String> exportedPackages() {
        Set<String> packages = new TreeSet<>();
        for (String module : modules()) {
            Path info = folder(module).resolve("src/main/java/module-info.java");
            if (Files.exists(info)) {
                EXPORTS.matcher(read(info))
                        .results()
                        .forEach((MatchResult line) -> packages.add(line.group(1)));
            }
        }
        return packages;
    }

    /** The main classes of all modules. */
    static JavaClasses classes() {
        return CLASSES;
    }

    /** The module that a class belongs to; empty for classes of the JDK and of libraries. */
    static Optional<String> moduleOf(JavaClass type) {
        return Optional.ofNullable(MODULE_OF_CLASS.get(type.getBaseComponentType().getName()));
    }

    /** The module of an imported class. */
    static String module(JavaClass type) {
        return moduleOf(type).orElseThrow();
    }

    private static String moduleBySource(JavaClass type) {
        Path file = Path.of(type.getSource().orElseThrow().getUri());
        return ROOT.relativize(file).getName(1).toString();
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
