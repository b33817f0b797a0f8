package io.softdpu.perf.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SizeTextTest {
    @ParameterizedTest
    @CsvSource({
        "0,0",
        "1,1",
        "1000,1000",
        "1024,1KiB",
        "1536,1536",
        "67108864,64MiB",
        "3221225472,3GiB",
        "2199023255552,2048GiB"
    })
    void shouldTakeTheLargestUnitInWhichASizeIsExact(long bytes, String text) {
        assertThat(SizeText.format(bytes)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "0,0 B",
        "1000,1000 B",
        "4096,4 KiB",
        "1536,1.500 KiB",
        "67108864,64 MiB",
        "79017750528,73.59 GiB",
        "9223372036854775807,8192 PiB"
    })
    void shouldRoundASizeToFourDigitsInTheUnitThatFits(long bytes, String text) {
        assertThat(SizeText.rounded(bytes)).isEqualTo(text);
    }
}
