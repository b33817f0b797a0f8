package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaAnnotation;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.properties.HasAnnotations;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Clause;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Limit of the clauses that one test claims to show. One that claims many is mostly a test of the
 * normal case, which few of their violations fail.
 */
class ClaimsTest {
    private static final int MOST_IN_A_MARK = 3;
    private static final int MOST_OF_A_TEST = 6;

    private static final String LIMITS =
            Text.format(", expected=at most %d and %d", MOST_IN_A_MARK, MOST_OF_A_TEST);

    @Test
    void shouldClaimFewClausesWithOneTest() {
        JavaClasses all = new ClassFileImporter().importPaths(folders());
        assertThat(all.stream().flatMap(ClaimsTest::elements).filter(e -> !e.ids().isEmpty()))
                .as("tests with claims")
                .hasSizeGreaterThan(100);
        assertThat(all.stream().filter(type -> !isExample(type)).flatMap(ClaimsTest::violations))
                .isEmpty();
    }

    @Test
    void shouldNameTheTestThatClaimsMore() {
        JavaClass examples =
                new ClassFileImporter().importClasses(Examples.class).get(Examples.class);
        String name = Examples.class.getName();
        assertThat(violations(examples))
                .containsExactlyInAnyOrder(
                        name + "#inOneMark claims 4 clauses in a mark and 4 in all" + LIMITS,
                        name + "#inThreeMarks claims 3 clauses in a mark and 7 in all" + LIMITS,
                        name + " claims 4 clauses in a mark and 4 in all" + LIMITS);
    }

    /** A class or a method, with the numbers of ids of all its marks. */
    private record Element(String name, List<Integer> ids) {
        static Element of(String name, HasAnnotations<?> marked) {
            return new Element(
                    name, marked.getAnnotations().stream().flatMap(Element::idsOf).toList());
        }

        int all() {
            return ids.stream().mapToInt(Integer::intValue).sum();
        }

        int most() {
            return ids.stream().mapToInt(Integer::intValue).max().orElse(0);
        }

        private static Stream<Integer> idsOf(JavaAnnotation<?> mark) {
            Object value = mark.get("value").orElse("");
            if (mark.getRawType().isEquivalentTo(Clause.class)) {
                return Stream.of(((String[]) value).length);
            }
            return mark.getRawType().isEquivalentTo(Clause.Several.class)
                    ? Arrays.stream((JavaAnnotation<?>[]) value).flatMap(Element::idsOf)
                    : Stream.of();
        }
    }

    private static Stream<Element> elements(JavaClass type) {
        return Stream.concat(
                Stream.of(Element.of(type.getName(), type)),
                type.getMethods().stream().map(ClaimsTest::element));
    }

    private static Element element(JavaMethod method) {
        return Element.of(method.getOwner().getName() + "#" + method.getName(), method);
    }

    private static Stream<String> violations(JavaClass type) {
        return elements(type)
                .filter(element ->
                        element.most() > MOST_IN_A_MARK || element.all() > MOST_OF_A_TEST)
                .map(element ->
                        Text.format(
                                        "%s claims %d clauses in a mark and %d in all",
                                        element.name(), element.most(), element.all())
                                + LIMITS);
    }

    private static boolean isExample(JavaClass type) {
        return type.isEquivalentTo(Examples.class);
    }

    private static List<Path> folders() {
        return ProjectModules.modules().stream()
                .flatMap(module ->
                        Stream.of(
                                ProjectModules.classFolder(module),
                                ProjectModules.testClassFolder(module)))
                .filter(Files::isDirectory)
                .toList();
    }

    @Clause({"a-1", "a-2", "a-3", "a-4"})
    private abstract static class Examples {
        @Clause({"a-1", "a-2", "a-3"})
        abstract void asManyAsMayBe();

        @Clause({"a-1", "a-2", "a-3", "a-4"})
        abstract void inOneMark();

        @Clause({"a-1", "a-2", "a-3"})
        @Clause({"a-4", "a-5", "a-6"})
        abstract void asManyAsMayBeInTwoMarks();

        @Clause({"a-1", "a-2", "a-3"})
        @Clause({"a-4", "a-5"})
        @Clause(
                value = {"a-6", "a-7"},
                refused = "adr/0099")
        abstract void inThreeMarks();
    }
}
