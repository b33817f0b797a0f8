package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Rules about calls in sources, which hold where no compiler of the build looks too: in programs
 * beside the modules, and for strings that javac concatenates.
 */
class SourceRulesTest {
    private static final Pattern DEFAULT_LOCALE =
            Pattern.compile(
                    "\\.(formatted\\(|to(Lower|Upper)Case\\(\\)"
                            + "|(printf|(?<=\\bString\\.)format)\\((?!\\s*Locale\\.))"
                            + "|\\.(?<!\\bText\\.)format\\(\\s*\""
                            + "|::(to(Lower|Upper)Case|formatted)\\b|\\bnew Formatter\\(");

    private static final Pattern FORMAT = Pattern.compile("\\b(Text|String)\\s*\\.format\\(");

    /** An exception that is declared: caught, a parameter, a variable or a pattern. */
    private static final Pattern EXCEPTION =
            Pattern.compile(
                    "\\b\\w*(?:Exception|Error|Throwable)\\b(?:\\s*\\|\\s*\\w+)*\\s+(\\w+)\\s*[,);={]");

    /** The same of a class whose message may be that of its cause, with the name of a class. */
    private static final Pattern GENERAL =
            Pattern.compile(
                    "\\b(?:(?:Unchecked)?IO|Runtime|Completion|Execution)?(?:Exception|Throwable)\\b"
                        + "(?:\\s*\\|\\s*\\w+)*\\s+(\\w+)\\s*[,);={]");

    /** Classes that may show the class of an exception, or look into a message. */
    private static final Set<String> SHOW_CLASSES =
            Set.of("StackTraces.java", "Reason.java", "FatalErrors.java", "NextStep.java");

    private final List<Path> sources =
            RepositoryFiles.all().stream()
                    .filter(file -> file.toString().endsWith(".java"))
                    .toList();

    @Test
    void shouldFormatIndependentlyOfTheDefaultLocale() {
        List<String> places = new ArrayList<>();
        for (Path file : sources) {
            if (!file.endsWith("SourceRulesTest.java")) {
                String text = RepositoryFiles.read(file);
                defaultLocale(text).forEach(at -> places.add(file + ":" + lineOf(text, at)));
            }
        }
        assertThat(sources).as("sources that the rule looks at").hasSizeGreaterThan(1000);
        assertThat(places)
                .as("calls with the default locale, expected=Text.format or Locale.ROOT")
                .isEmpty();
    }

    @Test
    void shouldSayReasonsInWords() {
        List<String> places = new ArrayList<>();
        for (Path file : sources) {
            boolean isProduct =
                    file.toString().contains("src/main/")
                            && (file.startsWith("libraries") || file.startsWith("applications"));
            if (isProduct && !SHOW_CLASSES.contains(file.getFileName().toString())) {
                String text = RepositoryFiles.read(file);
                exceptions(text).forEach(at -> places.add(file + ":" + lineOf(text, at)));
            }
        }
        assertThat(places).as("exceptions in texts, expected=Reason.of").isEmpty();
    }

    @Test
    void shouldFindCallsWithTheDefaultLocale() {
        assertThat(defaultLocale("\"%d\".formatted(1)")).isNotEmpty();
        assertThat(defaultLocale("String.format(\"%d\", 1)")).isNotEmpty();
        assertThat(defaultLocale("System.out.printf(\n\"%d\", 1)")).isNotEmpty();
        assertThat(defaultLocale("text.toLowerCase()")).isNotEmpty();
        assertThat(defaultLocale("out.format(\"%d\", 1)")).isNotEmpty();
        assertThat(defaultLocale("map(String::toUpperCase)")).isNotEmpty();
        assertThat(defaultLocale("new Formatter()")).isNotEmpty();
        assertThat(
                        defaultLocale(
                                "String.format(\n"
                                    + "  Locale.ROOT, \"\"); Text.format(\"\");"
                                    + " out.printf(Locale.ROOT, \"\"); x.toUpperCase(Locale.ROOT)"))
                .isEmpty();
    }

    @Test
    void shouldFindExceptionsInTexts() {
        String caught = "try {} catch (IOException | Other e) {";
        assertThat(exceptions(caught + "\"reason=\" + e, e)")).isNotEmpty();
        assertThat(exceptions(caught + "\"reason=\" +\n e + \"\"")).isNotEmpty();
        assertThat(exceptions(caught + "Text.format(\"reason=%s, (\", f(1, 2), e)")).isNotEmpty();
        assertThat(exceptions(caught + "String.valueOf(e)")).isNotEmpty();
        assertThat(exceptions(caught + "e.toString()")).isNotEmpty();
        assertThat(exceptions("void f(Throwable cause) { g(\"\" + cause);")).isNotEmpty();
        assertThat(exceptions(caught + "\"\" + e.getMessage()")).isNotEmpty();
        assertThat(exceptions("catch (DpuException | UncheckedIOException e) {e.getMessage()"))
                .isNotEmpty();
        assertThat(exceptions("catch (DpuException e) {\"\" + e.getMessage()")).isEmpty();
        assertThat(
                        exceptions(
                                caught
                                        + "\"\" + Reason.of(e);"
                                        + " Text.format(\"%s, e)\", Reason.of(e)); f(x + each, e)"))
                .isEmpty();
        assertThat(exceptions("f(Exception reason) {} g(String reason) {h(\"\" + reason)}"))
                .isEmpty();
    }

    private static List<Integer> defaultLocale(String text) {
        return DEFAULT_LOCALE.matcher(text).results().map(found -> found.start()).toList();
    }

    /** Where an exception becomes a text with the name of its class. */
    private static Set<Integer> exceptions(String text) {
        Set<Integer> places = new TreeSet<>();
        Set<String> names = new TreeSet<>();
        EXCEPTION.matcher(text).results().forEach(found -> names.add(found.group(1)));
        names.removeIf(name -> text.matches("(?s).*\\bString " + name + "\\b.*")); // maybe a text
        for (String name : names) {
            Pattern.compile(
                            "\\+\\s*N\\b(?!\\s*[.(\\[])|(?<![.\\w])N\\.toString\\(\\)|String\\.valueOf\\(\\s*N\\s*\\)"
                                    .replace("N", name))
                    .matcher(text)
                    .results()
                    .forEach(found -> places.add(found.start()));
        }
        GENERAL.matcher(text)
                .results()
                .map(found -> Pattern.compile("\\b" + found.group(1) + "\\.getMessage\\(\\)"))
                .flatMap(call -> call.matcher(text).results())
                .forEach(found -> places.add(found.start()));
        Matcher format = FORMAT.matcher(text);
        while (format.find()) {
            if (arguments(text, format.end()).stream().anyMatch(names::contains)) {
                places.add(format.start());
            }
        }
        return places;
    }

    /** The arguments of a call whose list begins there. */
    private static List<String> arguments(String text, int begin) {
        List<String> arguments = new ArrayList<>();
        int depth = 0;
        boolean quoted = false;
        int from = begin;
        for (int at = begin; at < text.length() && depth >= 0; at++) {
            char c = text.charAt(at);
            if (quoted) {
                quoted = c != '"';
                at += c == '\\' ? 1 : 0;
            } else if (c == '"') {
                quoted = true;
            } else if ("([{".indexOf(c) >= 0) {
                depth++;
            } else if (")]}".indexOf(c) >= 0 && --depth < 0 || c == ',' && depth == 0) {
                arguments.add(text.substring(from, at).strip());
                from = at + 1;
            }
        }
        return arguments;
    }

    private static long lineOf(String text, int at) {
        return text.substring(0, at).lines().count();
    }
}
