import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/**
 * Writes the Javadoc of all libraries into one folder, and fails on any warning. Everything public
 * has a description; a parameter or result that the description already names needs no tag.
 */
final class ApiDocumentation {
    private static final Pattern WARNING = Pattern.compile("^(.*:\\d+: )?(warning|error)( -|:).*");
    private static final Pattern MISSING_TAG =
            Pattern.compile("warning: no @(param|return|throws)\\b");

    /** Link to another document; the group is its text. */
    private static final Pattern LINK = Pattern.compile("\\[([^]]+)]\\([^):]+\\)");

    private ApiDocumentation() {}

    /** Arguments: the root of the project, the folder for the pages, the title, the module path. */
    public static void main(String[] arguments) throws IOException {
        Path root = Path.of(arguments[0]).normalize();
        Path pages = Path.of(arguments[1]);
        String title = arguments[2];
        String modulePath = arguments[3];

        List<String> line = new ArrayList<>(List.of("-quiet", "-d", pages.toString()));
        line.addAll(List.of("-encoding", "UTF-8", "--release", "25", "-notimestamp", "--no-fonts"));
        line.addAll(List.of("-Xdoclint:all", "-Xmaxwarns", "100000", "-Xmaxerrs", "1000"));
        line.addAll(List.of("-doctitle", title, "-windowtitle", title));
        Path overview = overview(root);
        line.addAll(List.of("-overview", overview.toString()));
        line.addAll(List.of("--module-path", modulePath));
        List<String> modules = new ArrayList<>();
        for (Path library : libraries(root)) {
            String module = "io.softdpu." + library.getFileName().toString().replace('-', '.');
            modules.add(module);
            line.addAll(
                    List.of(
                            "--module-source-path",
                            module + "=" + library.resolve("src/main/java")));
        }
        line.addAll(List.of("--module", String.join(",", modules)));

        StringWriter out = new StringWriter();
        PrintWriter writer = new PrintWriter(out);
        int code =
                ToolProvider.findFirst("javadoc")
                        .orElseThrow()
                        .run(writer, writer, line.toArray(new String[0]));
        writer.flush();
        Files.delete(overview);
        List<String> all =
                out.toString().lines().filter(text -> WARNING.matcher(text).matches()).toList();
        List<String> warnings =
                all.stream().filter(text -> !MISSING_TAG.matcher(text).find()).toList();
        if (code != 0 || !warnings.isEmpty()) {
            warnings.forEach(System.err::println);
            throw new IllegalStateException(
                    "javadoc has warnings: warnings="
                            + warnings.size()
                            + ", expected=0, code="
                            + code);
        }
        System.out.println(
                "javadoc: modules="
                        + modules.size()
                        + ", warnings=0, missingTags="
                        + all.size()
                        + ", folder="
                        + pages);
    }

    /** Copies the overview without its links to other documents, which are not among the pages. */
    private static Path overview(Path root) throws IOException {
        String text = Files.readString(root.resolve("docs/overview.md"));
        Path copy = Files.createTempFile("overview", ".md");
        return Files.writeString(copy, LINK.matcher(text).replaceAll("$1"));
    }

    private static List<Path> libraries(Path root) throws IOException {
        try (Stream<Path> folders = Files.list(root.resolve("libraries"))) {
            return folders.filter(folder ->
                            Files.exists(folder.resolve("src/main/java/module-info.java")))
                    .sorted()
                    .toList();
        }
    }
}
