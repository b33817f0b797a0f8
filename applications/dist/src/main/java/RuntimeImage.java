import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.Configuration;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.lang.module.ResolvedModule;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/**
 * Links a Java run-time image with the modules of the JDK that the jars of a folder need. The jars
 * themselves stay on the module path: jlink takes no automatic module, and one of them is one.
 */
final class RuntimeImage {

    private RuntimeImage() {}

    /** Arguments: the folder of the jars, the folder of the image. */
    public static void main(String[] arguments) throws IOException {
        Path jars = Path.of(arguments[0]);
        Path image = Path.of(arguments[1]);
        Set<String> modules = modules(jars);
        System.out.println("modules of the image: " + String.join(", ", modules));
        delete(image);
        run(
                "jlink",
                "--add-modules",
                String.join(",", modules),
                "--no-header-files",
                "--no-man-pages",
                "--generate-cds-archive",
                "--output",
                image.toString());
    }

    /** Those that descriptors require, and those that the classes of automatic modules use. */
    private static Set<String> modules(Path jars) throws IOException {
        ModuleFinder finder = ModuleFinder.of(jars);
        List<ModuleReference> references = List.copyOf(finder.findAll());
        Configuration resolved =
                Configuration.empty()
                        .resolve(
                                finder,
                                ModuleFinder.ofSystem(),
                                references.stream()
                                        .map(ModuleReference::descriptor)
                                        .map(ModuleDescriptor::name)
                                        .toList());
        Set<String> modules = new TreeSet<>();
        for (ResolvedModule module : resolved.modules()) {
            if (finder.find(module.name()).isEmpty()) {
                modules.add(module.name());
            }
        }
        for (ModuleReference reference : references) {
            if (reference.descriptor().isAutomatic()) {
                String jar = Path.of(reference.location().orElseThrow()).toString();
                String used =
                        run(
                                "jdeps",
                                "--ignore-missing-deps",
                                "--multi-release",
                                "base",
                                "--print-module-deps",
                                jar);
                modules.addAll(List.of(used.strip().split(",")));
            }
        }
        return modules;
    }

    private static String run(String tool, String... arguments) {
        StringWriter out = new StringWriter();
        PrintWriter writer = new PrintWriter(out);
        int code = ToolProvider.findFirst(tool).orElseThrow().run(writer, writer, arguments);
        writer.flush();
        if (code != 0) {
            throw new IllegalStateException(
                    "tool failed: tool=" + tool + ", code=" + code + ", expected=0\n" + out);
        }
        return out.toString();
    }

    /** Deletes what an earlier build has left: jlink needs a folder that does not exist. */
    private static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
