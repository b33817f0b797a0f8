import io.softdpu.cli.EnvironmentVariable;
import io.softdpu.cli.SoftDpu;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import picocli.CommandLine;
import picocli.codegen.docgen.manpage.ManPageGenerator;

/**
 * Writes a page in AsciiDoc for each command of softdpu, of which Asciidoctor makes man pages: with
 * a section on the environment variables, the same on each.
 */
final class ManPages {

    private ManPages() {}

    /** Arguments: the folder for the pages, the version of softdpu. */
    public static void main(String[] arguments) throws IOException {
        Path pages = Files.createDirectories(Path.of(arguments[0]));
        CommandLine command = SoftDpu.commandLine();
        setVersion(command, "softdpu " + arguments[1]);
        int code =
                ManPageGenerator.generateManPage(
                        pages.toFile(), null, new boolean[0], true, command.getCommandSpec());
        if (code != 0) {
            throw new IllegalStateException(
                    "no man pages: folder=" + pages + ", code=" + code + ", expected=0");
        }
        String environment = environment();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(pages, "*.adoc")) {
            for (Path page : all) {
                Files.writeString(page, environment, StandardOpenOption.APPEND);
            }
        }
    }

    /** The section; passed through as it is, since a dollar or a tilde has a meaning in AsciiDoc. */
    private static String environment() {
        StringBuilder section = new StringBuilder("\n== Environment\n");
        for (EnvironmentVariable variable : EnvironmentVariable.values()) {
            section.append("\n*")
                    .append(variable.name())
                    .append("*::\n  pass:[")
                    .append(variable.meaning().replace("]", "\\]"))
                    .append("] (")
                    .append(variable.readBy())
                    .append(")\n");
        }
        return section.toString();
    }

    /** In place of the text of --version, which names the Java and the machine. */
    private static void setVersion(CommandLine command, String version) {
        command.getCommandSpec().versionProvider(null).version(version);
        command.getSubcommands().values().forEach(child -> setVersion(child, version));
    }
}
