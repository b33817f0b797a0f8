package io.softdpu.linux.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of numbers that a user gave. */
class TextNumbersTest {
    @ParameterizedTest
    @CsvSource({"0, 0", "-7, -7", "2147483647, 2147483647"})
    void shouldParseDigits(String text, int number) {
        assertThat(Text.parseInt(text)).isEqualTo(number);
        assertThat(Text.parseLong(text)).isEqualTo(number);
    }

    /** Arabic, Persian, Devanagari, Thai and full width digits, and what is no number at all. */
    @ParameterizedTest
    @ValueSource(strings = {"١٢", "۱۲", "१२", "๑๒", "１２", "1٢", "", "-", "1 ", "0x1", "1.0"})
    void shouldRefuseOtherDigits(String text) {
        assertThatThrownBy(() -> Text.parseInt(text)).isInstanceOf(NumberFormatException.class);
        assertThatThrownBy(() -> Text.parseLong(text)).isInstanceOf(NumberFormatException.class);
    }
}
