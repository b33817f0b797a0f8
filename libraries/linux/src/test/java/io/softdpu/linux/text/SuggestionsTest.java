package io.softdpu.linux.text;

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

    @ParameterizedTest
    @CsvSource({
        "comhc, comch",
        "commch, comch",
        "cmch, comch",
        "rmda, rdma",
        "comch_producer, comch-producer",
        "comch-prodcuer, comch-producer",
        "syncevent, sync-event"
    })
    void shouldTakeAWordForAMisspellingThatDiffersByOneLetterOfFour(String typed, String meant) {
        assertThat(Suggestions.isMisspelling(typed, meant)).isTrue();
    }

    /** Names of libraries that there are, or may be: none is another with a mistake. */
    @ParameterizedTest
    @CsvSource({
        "rdma, dma",
        "dpa, dma",
        "sha, sha",
        "comch, comch",
        "comch-producer, comch-consumer",
        "comch-producer, comch",
        "compress, comch",
        "core, comch"
    })
    void shouldTakeNoOtherWordForAMisspelling(String typed, String known) {
        assertThat(Suggestions.isMisspelling(typed, known)).isFalse();
        assertThat(Suggestions.isMisspelling(known, typed)).isFalse();
    }

    @Test
    void shouldLookAtNoWordThatIsMuchLonger() {
        assertThat(Suggestions.isMisspelling("c".repeat(1_000_000), "comch")).isFalse();
    }
}
