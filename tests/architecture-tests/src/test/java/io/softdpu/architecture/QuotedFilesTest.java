package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Code blocks of the documents that quote a file, compared with it. */
class QuotedFilesTest {
    @TempDir private Path root;

    @Test
    void shouldQuoteFilesOfTheRepositoryAsTheyAre() {
        List<String> differences =
                RepositoryFiles.all().stream()
                        .filter(file -> file.toString().endsWith(".md"))
                        .flatMap(page ->
                                QuotedFiles.differences(
                                                ProjectModules.ROOT, RepositoryFiles.read(page))
                                        .stream()
                                        .map(difference -> page + ": " + difference))
                        .toList();
        assertThat(differences).isEmpty();
    }

    @Test
    void shouldAcceptTheTextOfAFile() throws IOException {
        write("Program.java", "class Program {}\n");
        assertThat(
                        differences(
                                "text\n"
                                        + "<!-- file: Program.java -->\n"
                                        + "```java\n"
                                        + "class Program {}\n"
                                        + "```\n"))
                .isEmpty();
    }

    @Test
    void shouldNameTheLineThatDiffers() throws IOException {
        write("Program.java", "class Program {\n}\n");
        assertThat(
                        differences(
                                "<!-- file: Program.java -->\n"
                                        + "```java\n"
                                        + "class Program {\n"
                                        + "    // new\n"
                                        + "}\n"
                                        + "```\n"))
                .singleElement()
                .asString()
                .isEqualTo(
                        "line 1: block differs from its file: file=Program.java, lineOfBlock=2,"
                                + " text=    // new, expected=}");
    }

    @Test
    void shouldRefuseABlockThatIsShorterThanItsFile() throws IOException {
        write("Program.java", "class Program {\n}\n");
        assertThat(differences("<!-- file: Program.java -->\n```\nclass Program {\n```\n"))
                .singleElement()
                .asString()
                .endsWith("text=(end), expected=}");
    }

    @Test
    void shouldCompareAPartWithoutItsIndentation() throws IOException {
        write(
                "pom.xml",
                """
                <project>
                    <!-- [part: one] -->
                    <dependency>
                        <scope>test</scope>
                    </dependency>
                    <!-- [end] -->
                    <other/>
                </project>
                """);
        String block = "```xml\n<dependency>\n    <scope>test</scope>\n</dependency>\n```\n";
        assertThat(differences("<!-- file: pom.xml, part: one -->\n" + block)).isEmpty();
        assertThat(differences("<!-- file: pom.xml, part: two -->\n" + block))
                .singleElement()
                .asString()
                .contains("no such part: file=pom.xml, part=two");
    }

    @Test
    void shouldRefuseACommentThatQuotesNothing() {
        assertThat(differences("<!-- file: absent -->\n```\n```\n"))
                .singleElement()
                .asString()
                .contains("no such file: file=absent");
        assertThat(differences("<!-- file: absent -->\n\n```\n```\n"))
                .singleElement()
                .asString()
                .contains("no code block after the comment");
        assertThat(differences("<!-- file: absent -->\n```\n"))
                .singleElement()
                .asString()
                .contains("code block has no end");
        assertThat(differences("<!--file : absent-->\n```\n```\n"))
                .singleElement()
                .asString()
                .contains("comment is malformed");
    }

    private List<QuotedFiles.Difference> differences(String page) {
        return QuotedFiles.differences(root, page);
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(root.resolve(name), text);
    }
}
