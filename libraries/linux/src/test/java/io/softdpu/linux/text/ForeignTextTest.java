package io.softdpu.linux.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ForeignTextTest {
    private static final String MORE = "…(+";

    @ParameterizedTest
    @ValueSource(strings = {"", "plain", "ünïcode 漢字 \uD83D\uDE00", "back\\slash", "C:\\new"})
    void shouldLeavePrintableTextAsItIs(String text) {
        assertThat(ForeignText.escape(text)).isEqualTo(text);
        assertThat(ForeignText.escapeAndCut(text)).isEqualTo(text);
        assertThat(ForeignText.isPrintable(text)).isTrue();
    }

    @Test
    void shouldEscapeWhatMovesTheCursorOrEndsALine() {
        assertThat(ForeignText.escape("a\u001b[2J\nb\r\tc\u0000\u007f\u0085\u009b"))
                .isEqualTo("a\\u001b[2J\\nb\\r\\tc\\u0000\\u007f\\u0085\\u009b");
        assertThat(ForeignText.escape("\u2028\u2029")).isEqualTo("\\u2028\\u2029");
    }

    @Test
    void shouldEscapeWhatChangesTheOrderOfTextOrDoesNotShow() {
        assertThat(ForeignText.escape("\u061c\u200b\u200e\u202a\u202e\u2066\u2069\ufeff"))
                .isEqualTo("\\u061c\\u200b\\u200e\\u202a\\u202e\\u2066\\u2069\\ufeff");
        assertThat(ForeignText.escape("\udb40\udc01")).as("a tag").isEqualTo("\\udb40\\udc01");
    }

    @Test
    void shouldEscapeUnpairedSurrogates() {
        assertThat(ForeignText.escape("a\ud83db")).isEqualTo("a\\ud83db");
        assertThat(ForeignText.escape("\ude00")).isEqualTo("\\ude00");
    }

    @Test
    void shouldEscapeEveryCharacterThatIsNoneToPrint() {
        assertThat(
                        IntStream.rangeClosed(0, Character.MAX_CODE_POINT)
                                .filter(one ->
                                        ForeignText.escape(Character.toString(one))
                                                .codePoints()
                                                .anyMatch(ForeignTextTest::isDangerous)))
                .isEmpty();
    }

    private static boolean isDangerous(int codePoint) {
        return Character.isISOControl(codePoint)
                || codePoint == 0x2028
                || codePoint == 0x2029
                || Character.getType(codePoint) == Character.FORMAT
                || Character.getType(codePoint) == Character.SURROGATE;
    }

    @Test
    void shouldCutInTheMiddle() {
        String exact = "x".repeat(ForeignText.MAX_CHARACTERS);
        assertThat(ForeignText.escapeAndCutMiddle(exact)).isEqualTo(exact);

        String cut = ForeignText.escapeAndCutMiddle("begin" + exact + "end");
        assertThat(cut)
                .hasSizeLessThanOrEqualTo(ForeignText.MAX_CHARACTERS)
                .matches("beginx+…\\(\\+\\d+ more\\)…x+end");
        int more = Integer.parseInt(cut.replaceAll(".*\\(\\+(\\d+) more.*", "$1"));
        assertThat(more).isEqualTo(exact.length() - cut.replaceAll("[^x]", "").length());

        String hostile = "\u001b".repeat(300);
        assertThat(ForeignText.escapeAndCutMiddle(hostile))
                .hasSizeLessThanOrEqualTo(ForeignText.MAX_CHARACTERS)
                .matches("(\\\\u001b)+…\\(\\+\\d+ more\\)…(\\\\u001b)+");
        assertThat(ForeignText.escapeAndCutMiddle(null)).isEqualTo("null");
    }

    @Test
    void shouldCutALongTextAndSayHowMuchIsMissing() {
        String exact = "x".repeat(ForeignText.MAX_CHARACTERS);
        assertThat(ForeignText.escapeAndCut(exact)).isEqualTo(exact);

        String cut = ForeignText.escapeAndCut(exact + "y");
        String shown = cut.substring(0, cut.indexOf(MORE));
        assertThat(cut).hasSizeLessThanOrEqualTo(ForeignText.MAX_CHARACTERS).startsWith("xxxx");
        assertThat(cut).isEqualTo(shown + MORE + (257 - shown.length()) + " more)");
    }

    @Test
    void shouldCutNeitherAnEscapeNorAPairOfSurrogates() {
        for (int before = 0; before < 16; before++) {
            String start = "x".repeat(before);
            assertThat(ForeignText.escapeAndCut(start + "\u001b".repeat(300)))
                    .matches("x*(\\\\u001b)+…\\(\\+\\d+ more\\)")
                    .hasSizeLessThanOrEqualTo(ForeignText.MAX_CHARACTERS);
            assertThat(ForeignText.escapeAndCut(start + "\ud83d\ude00".repeat(300)))
                    .matches("x*(\ud83d\ude00)+…\\(\\+\\d+ more\\)");
        }
    }

    @Test
    void shouldChangeNothingWhereATextWasEscapedBefore() {
        String hostile = "\u001b[2J\nsoftdpu: OK\u2028\u202e" + "z".repeat(4_000_000);
        String once = ForeignText.escapeAndCut(hostile);

        assertThat(once).startsWith("\\u001b[2J\\nsoftdpu: OK\\u2028\\u202ezzz");
        assertThat(ForeignText.escapeAndCut(once)).isEqualTo(once);
        assertThat(ForeignText.escape(once)).isEqualTo(once);
        assertThat(ForeignText.escape(hostile)).hasSizeGreaterThan(4_000_000);
    }
}
