package io.softdpu.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor;
import java.net.MalformedURLException;
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
final class House {

    static final Path ROOT = Path.of("").toAbsolutePath().getParent().getParent();

    private static final Map<String, Path> FOLDERS = folders();

    private static final JavaClasses CLASSES =
            new ClassFileImporter()
                    .importPaths(
                            modules().stream()
                                    .map(module -> folder(module).resolve("target/classes"))
                                    .filter(Files::isDirectory)
                                    .toList());

    /** What the modules depend on comes with the command, on which this module depends. */
    private static final ClassLoader LOADER =
            new URLClassLoader(
                    modules().stream()
                            .map(module -> url(folder(module).resolve("target/classes")))
                            .toArray(URL[]::new),
                    House.class.getClassLoader());

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

    /** The modules in a folder of the root: libraries, applications or tests. */
    static List<String> group(String name) {
        Path group = ROOT.resolve(name);
        return modules().stream().filter(module -> folder(module).startsWith(group)).toList();
    }

    /** What the compiled descriptor of a module says. */
    static ModuleDescriptor descriptor(String module) {
        Path file = folder(module).resolve("target/classes/module-info.class");
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

    /** Packages that a module exports to everybody. */
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
