package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.text.Text;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Rules of the language of the project: class descriptions begin with a noun phrase or a verb, some
 * words have a plain one that is used instead, and keys of messages have one form.
 */
class LanguageTest {

    /** First words by which a description is a clause that names nothing, or refers to nothing. */
    private static final Pattern HEADLESS =
            Pattern.compile(
                    "(What|Who|Whose|Whom|Where|When|How|Why|Which)(ever|soever)?\\b"
                        + "|(Whether|That|Those|If|Because|So|It|Its|They|Their|He|She|There)\\b"
                        + "|(Some|Any|Every|No)(body|one|thing)\\b");

    /** Words by pattern, with the plain one beside each; a blank stands for any white space. */
    private static final Map<String, String> PLAIN_WORDS = new LinkedHashMap<>();

    static {
        PLAIN_WORDS.put("somebody|someone|somebody's", "a process, peer, thread or caller");
        PLAIN_WORDS.put("nobody|no one|nobody's", "no process, peer, thread or caller");
        PLAIN_WORDS.put("whoever|whomever", "the process, peer, thread or caller that");
        PLAIN_WORDS.put("for good|for ever|forever", "permanently, without end");
        PLAIN_WORDS.put("(let|lets|letting) (\\w+ )?go", "release, close, unpin");
        PLAIN_WORDS.put("in vain", "without success");
        PLAIN_WORDS.put("farewell", "final error");
        PLAIN_WORDS.put("knock(s|ed|ing)?|newcomers?", "pending client");
        PLAIN_WORDS.put(
                "(messages|operations|reads|writes|bytes|[KMG]iB) an?"
                        + " (second|progress|doorbell|pass)|(bytes|[KMG]iB) an?"
                        + " (message|operation|copy|call)",
                "per");
    }

    /** String literal on one line. */
    private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\\n]|\\\\.)*)\"");

    /** Key of a message with an underscore, or of a quantity without its unit. */
    private static final Pattern FOREIGN_KEY =
            Pattern.compile(
                    "(?<![\\w.-])([A-Za-z]\\w*_\\w*"
                        + "|(\\w*O|o)ffset|(data|message|max)?[lL]ength|delay|elapsed|waited)=");

    /** Name with an underscore that a check puts before the value in its message. */
    private static final Pattern FOREIGN_NAME =
            Pattern.compile(
                    "\\b(require\\w*|invalid|unexpected|u32|u64|blob)\\((in,)?\\s*\"\\w*_\\w*\"");

    /** Between two words of a phrase: white space, also around the begin of a comment's line. */
    private static final String BLANK = "\\\\s+(?:(?:\\\\*|//|#)\\\\s*)?";

    private final List<Path> files = RepositoryFiles.all();

    @Test
    void shouldBeginDescriptionsWithANounOrVerb() {
        List<String> headless = new ArrayList<>();
        int described = 0;
        for (Path file : javaFiles().toList()) {
            for (Descriptions.Description one : Descriptions.of(RepositoryFiles.read(file))) {
                described++;
                if (isHeadless(one.sentence())) {
                    headless.add(file + ": " + one.declared() + ": " + one.sentence());
                }
            }
        }
        assertThat(described).as("descriptions that the rule looks at").isGreaterThan(700);
        assertThat(headless).as("descriptions that begin with a clause").isEmpty();
    }

    @Test
    void shouldUsePlainWords() {
        List<String> places = new ArrayList<>();
        PLAIN_WORDS.forEach((words, plain) -> {
            Pattern pattern = pattern(words);
            Stream.of(javaFiles().filter(LanguageTest::isProduct), pages(), scriptsAndPoms())
                    .flatMap(files -> files)
                    .forEach(file -> {
                        String text = RepositoryFiles.read(file);
                        Matcher found = pattern.matcher(text);
                        while (found.find()) {
                            places.add(
                                    Text.format(
                                            "%s:%d: %s, expected=%s",
                                            file,
                                            lineOf(text, found.start()),
                                            found.group().replaceAll("\\s+", " "),
                                            plain));
                        }
                    });
        });
        assertThat(places).as("words with a plain one beside each").isEmpty();
    }

    @Test
    void shouldWriteKeysOfMessagesInOneForm() {
        List<String> places = new ArrayList<>();
        javaFiles()
                .filter(LanguageTest::isProduct)
                .forEach(file -> {
                    String text = RepositoryFiles.read(file);
                    foreignKeys(text)
                            .forEach((at, key) ->
                                    places.add(file + ":" + lineOf(text, at) + ": " + key));
                });
        assertThat(places)
                .as(
                        "keys in another form than camelCase with a unit, as sizeBytes and"
                                + " waitedMillis")
                .isEmpty();
    }

    @Test
    void shouldFindKeysWithAnUnderscoreOrWithoutAUnit() {
        assertThat(
                        foreignKeys(
                                "f(\"bad: block_size=\" + size + \", blockSizeBytes=4,"
                                        + " offset=%d\")"))
                .containsOnlyKeys(8, 51)
                .containsValues("block_size=", "offset=");
        assertThat(foreignKeys("requireRange(\n    \"max_memory\", 1)"))
                .containsValue("requireRange( \"max_memory\"");
        assertThat(
                        foreignKeys(
                                "int a_b = 1; // \"quoted: offsetBytes=1, --block-size=2,"
                                        + " listLength=3\""))
                .isEmpty();
    }

    @Test
    void shouldFindHeadlessDescriptionsOfAllKinds() {
        String source =
                """
                /+* What a package is for. */
                @NullMarked
                package io.softdpu.example;

                /+*
                 * A class. What
                 * it does.
                 *
                 * @param <T> what
                 */
                @Command(name = "(", description = {"a \\") b"})
                // a comment
                public final class Named<T> {
                    /+* Who calls. */
                    private record Caller(int id) {}

                    /+* Whether it is there: a method. */
                    boolean isThere() { return true; }

                    /+* {@code Where} it is */
                    @interface Place {}

                    /+* It is one. */
                    public sealed interface One permits Two {}
                }
                """
                        .replace("/+*", "/**"); // so that this file does not have them

        assertThat(Descriptions.of(source))
                .containsExactly(
                        new Descriptions.Description(
                                "package io.softdpu.example", "What a package is for."),
                        new Descriptions.Description("class Named", "A class."),
                        new Descriptions.Description("record Caller", "Who calls."),
                        new Descriptions.Description("@interface Place", "{@code Where} it is"),
                        new Descriptions.Description("interface One", "It is one."));
        assertThat(Descriptions.of(source).stream().filter(one -> isHeadless(one.sentence())))
                .extracting(Descriptions.Description::declared)
                .containsExactly(
                        "package io.softdpu.example",
                        "record Caller",
                        "@interface Place",
                        "interface One");
    }

    @Test
    void shouldLookAtScriptsAndPoms() {
        assertThat(scriptsAndPoms().map(Path::toString))
                .contains(
                        "pom.xml",
                        "libraries/core/pom.xml",
                        "softdpu",
                        "bin/soak",
                        ".ci/run",
                        "outside/check",
                        "benchmarks/compare.py",
                        "benchmarks/lib.sh")
                .doesNotContain("LICENSE", "docs/clauses.tsv");
    }

    @Test
    void shouldFindWordsOverTheEndOfALine() {
        assertThat(pattern("(let|lets|letting) (\\w+ )?go"))
                .matches(pattern -> pattern.matcher("     * lets it\n     * go").find())
                .matches(pattern -> pattern.matcher("// let\n        // go of").find())
                .matches(pattern -> !pattern.matcher("outlet goes").find());
    }

    private static boolean isHeadless(String sentence) {
        return HEADLESS.matcher(sentence.replaceAll("^[^\\w{]*(\\{@\\w+\\s+)?", "")).lookingAt();
    }

    private static Pattern pattern(String words) {
        return Pattern.compile(
                "\\b(?:" + words.replaceAll(" ", BLANK) + ")\\b", Pattern.CASE_INSENSITIVE);
    }

    /** Keys that do not follow the rule, by their position. */
    private static Map<Integer, String> foreignKeys(String source) {
        Map<Integer, String> keys = new LinkedHashMap<>();
        Matcher literal = LITERAL.matcher(source);
        while (literal.find()) {
            Matcher key = FOREIGN_KEY.matcher(literal.group(1));
            while (key.find()) {
                keys.put(literal.start(1) + key.start(), key.group());
            }
        }
        Matcher name = FOREIGN_NAME.matcher(source);
        while (name.find()) {
            keys.put(name.start(), name.group().replaceAll("\\s+", " "));
        }
        return keys;
    }

    private static long lineOf(String text, int position) {
        return 1 + text.chars().limit(position).filter(c -> c == '\n').count();
    }

    private Stream<Path> javaFiles() {
        return files.stream().filter(file -> file.toString().endsWith(".java"));
    }

    private static boolean isProduct(Path file) {
        return !file.startsWith("tests") && file.toString().contains("/src/main/");
    }

    /** Poms, and files that an interpreter runs or a script includes. */
    private Stream<Path> scriptsAndPoms() {
        return files.stream()
                .filter(file ->
                        file.endsWith("pom.xml")
                                || file.toString().endsWith(".sh")
                                || file.toString().endsWith(".py")
                                || RepositoryFiles.isRunByAnInterpreter(file));
    }

    /** The pages of the repository, but those that quote other documents. */
    private Stream<Path> pages() {
        return files.stream()
                .filter(file -> file.toString().endsWith(".md"))
                .filter(file -> !file.equals(Path.of("docs/conformance.md")));
    }
}
