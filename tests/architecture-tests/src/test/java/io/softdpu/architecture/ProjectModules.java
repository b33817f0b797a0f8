package io.softdpu.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor;
import java.net.MalformedURLException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The modules of the build, their folders and descriptors, and their main classes. The parent pom
 * names the modules, the descriptors say which module requires which.
 */
final class ProjectModules {

    static final Path ROOT = Path.of("").toAbsolutePath().getParent().getParent();

    private static final Map<String, Path> FOLDERS = folders();

    /** The folder of a module's test classes, below the module's. */
    private static final Path TEST_CLASSES = testClasses();

    private static final JavaClasses CLASSES =
            new ClassFileImporter()
                    .importPaths(
                            modules().stream()
                                    .map(module -> classFolder(module))
                                    .filter(Files::isDirectory)
                                    .toList());

    /** Loads main classes; their dependencies come from the class path of these tests. */
    private static final ClassLoader LOADER =
            new URLClassLoader(
                    modules().stream().map(module -> url(classFolder(module))).toArray(URL[]::new),
                    ProjectModules.class.getClassLoader());

    private static final Map<String, String> MODULE_OF_CLASS =
            CLASSES.stream()
                    .collect(Collectors.toMap(JavaClass::getName, ProjectModules::moduleBySource));

    private ProjectModules() {}

    /** The modules with classes that the parent pom names, in its order. */
    static List<String> modules() {
        return List.copyOf(FOLDERS.keySet());
    }

    /** The folder of a module. */
    static Path folder(String module) {
        return Objects.requireNonNull(FOLDERS.get(module), module);
    }

    /** The folder of the main classes of a module. */
    static Path classFolder(String module) {
        return buildFolder(module).resolve("classes");
    }

    /** The folder of the test classes of a module: each level of the tests has its own. */
    static Path testClassFolder(String module) {
        return folder(module).resolve(TEST_CLASSES);
    }

    /** The folder that this build compiles a module into. */
    static Path buildFolder(String module) {
        return folder(module).resolve("target");
    }

    private static Path testClasses() {
        try {
            Path own =
                    Path.of(
                            ProjectModules.class
                                    .getProtectionDomain()
                                    .getCodeSource()
                                    .getLocation()
                                    .toURI());
            return Path.of("").toAbsolutePath().relativize(own);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Map<String, Path> folders() {
        Map<String, Path> folders = new LinkedHashMap<>();
        Pattern.compile("<module>([^<]+)</module>")
                .matcher(read(ROOT.resolve("pom.xml")))
                .results()
                .map((MatchResult result) -> ROOT.resolve(result.group(1)))
                .filter(folder -> Files.exists(folder.resolve("src/main/java/module-info.java")))
                .forEach(folder -> folders.put(folder.getFileName().toString(), folder));
        return Collections.unmodifiableMap(folders);
    }

    /** The modules in a folder of the root: libraries, applications or tests. */
    static List<String> group(String name) {
        Path group = ROOT.resolve(name);
        return modules().stream().filter(module -> folder(module).startsWith(group)).toList();
    }

    /** The compiled descriptor of a module. */
    static ModuleDescriptor descriptor(String module) {
        Path file = classFolder(module).resolve("module-info.class");
        try (InputStream in = Files.newInputStream(file)) {
            return ModuleDescriptor.read(in);
        } catch (IOException e) {
            throw new UncheckedIOException("not compiled, run mvn test-compile: file=" + file, e);
        }
    }

    /** The name of a module in its descriptor. */
    static String descriptorName(String module) {
        return "io.softdpu." + module.replace('-', '.');
    }

    /** The modules of the build that the descriptor of a module requires. */
    static Set<String> requires(String module) {
        Set<String> names =
                descriptor(module).requires().stream()
                        .map(ModuleDescriptor.Requires::name)
                        .collect(Collectors.toSet());
        return modules().stream()
                .filter(other -> names.contains(descriptorName(other)))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Packages that a module exports without naming the modules that may use them. */
    static Set<String> exportedPackages() {
        return modules().stream()
                .flatMap(module -> descriptor(module).exports().stream())
                .filter(export -> !export.isQualified())
                .map(ModuleDescriptor.Exports::source)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** A class of any module, for reflection; it is not initialised. */
    static Class<?> load(String name) throws ClassNotFoundException {
        return Class.forName(name, false, LOADER);
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

    private static URL url(Path folder) {
        try {
            return folder.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
