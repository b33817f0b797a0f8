package io.softdpu.perf.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TextTableTest {
    @Test
    void shouldPutNumbersToTheRightAndTheFirstColumnToTheLeft() {
        TextTable table = TextTable.ofNumbers("phase", "IOPS", "p50 us");
        table.add("random read", "5", "1234567.8");
        table.add("x", "1000000", "-");

        assertThat(table.lines())
                .containsExactly(
                        "phase           IOPS     p50 us",
                        "random read        5  1234567.8",
                        "x            1000000          -");
    }

    @Test
    void shouldPutWordsToTheLeftWithoutBlanksAtTheEnd() {
        TextTable table = TextTable.ofWords("SIDE", "NAME");
        table.add("host", "p");

        assertThat(table.lines()).containsExactly("SIDE  NAME", "host  p");
    }

    @Test
    void shouldRefuseARowOfAnotherLength() {
        TextTable table = TextTable.ofWords("a", "b");

        assertThatThrownBy(() -> table.add("1"))
                .hasMessage("row has another length: expected=2, actual=1");
    }
}
