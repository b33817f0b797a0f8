package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of {@link Suggestions}. */
class SuggestionsTest {
    private static final List<String> OPTIONS =
            List.of("--json", "--block-size", "--seconds", "--measure", "--volume", "-d");

    @ParameterizedTest
    @CsvSource({
        "--jsno, --json",
        "--jso, --json",
        "--jjson, --json",
        "--Json, --json",
        "--blok, --block-size",
        "--block_size, --block-size",
        "--sec, --seconds",
        "--measures, --measure",
        "--volum, --volume"
    })
    void shouldSuggestTheWordThatDiffersByFewLetters(String typed, String meant) {
        assertThat(Suggestions.of(typed, OPTIONS)).startsWith(meant);
    }

    @ParameterizedTest
    @CsvSource({"--frobnicate", "-", "--", "--x", "-z", "--help-me-please"})
    void shouldSuggestNothingForAWordThatIsLikeNoOther(String typed) {
        assertThat(Suggestions.of(typed, OPTIONS)).isEmpty();
    }

    @Test
    void shouldSuggestThreeWordsAtMostTheNearestFirst() {
        assertThat(Suggestions.of("--size1", List.of("--sizes", "--size", "--site1", "--sizer")))
                .hasSize(3)
                .startsWith("--sizes");
        assertThat(Suggestions.question(List.of("a", "b"))).isEqualTo("; did you mean a or b?");
        assertThat(Suggestions.question(List.of())).isEmpty();
    }
}
