package io.softdpu.cli.options;

import static java.time.temporal.ChronoUnit.MICROS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.linux.text.Text;
import io.softdpu.perf.text.SizeText;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class ConvertersTest {
    @ParameterizedTest
    @CsvSource({
        "1,1",
        "4096,4096",
        "4096B,4096",
        "4K,4096",
        "4k,4096",
        "4KiB,4096",
        "4KB,4096",
        "64MiB,67108864",
        "1GiB,1073741824",
        "1G,1073741824",
        "8589934591G,9223372035781033984",
        "1T,1099511627776",
        "3tb,3298534883328",
        "3TiB,3298534883328",
        "8388607T,9223370937343148032"
    })
    void shouldReadSizesInPowersOf1024(String text, long bytes) {
        assertThat(SizeConverter.parse(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource({
        "'',not a size",
        "-1,not a size",
        "1.5M,not a size",
        "64Q,not a size",
        "MiB,not a size",
        "1 M,not a size",
        "0,size is zero",
        "0GiB,size is zero",
        "8589934592G,size is too large",
        "8388608T,size is too large",
        "1P,not a size",
        "9999999999999999999,size is too large"
    })
    void shouldRefuseASizeAndSayWhatWasExpected(String text, String reason) {
        assertThatThrownBy(() -> SizeConverter.parse(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessage(
                        Text.format(
                                "%s: size=%s, expected=bytes, or a number with K, M, G or T such as"
                                        + " 64MiB",
                                reason, text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "1000", "4KiB", "64MiB", "3GiB", "2048GiB"})
    void shouldFormatASizeSoThatItReadsBackTheSame(String text) {
        assertThat(SizeText.format(SizeConverter.parse(text))).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"3,3000", "0.5,500", "0.001,1", "86400,86400000"})
    void shouldReadSecondsWithDecimals(String text, long millis) {
        assertThat(new SecondsConverter().convert(text)).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "0.0001", "86401", "1e3", "3s", "", "99999999999"})
    void shouldRefuseATimeThatIsNoneOrOutOfRange(String text) {
        assertThatThrownBy(() -> new SecondsConverter().convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessage(
                        "time is illegal: seconds="
                                + text
                                + ", expected=seconds from 0.001 to 86400");
    }

    @ParameterizedTest
    @CsvSource({"1us,1", "250us,250", "2ms,2000", "60s,60000000"})
    void shouldReadAPaceWithItsUnit(String text, long micros) {
        assertThat(new PaceConverter().convert(text)).isEqualTo(Duration.of(micros, MICROS));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0us", "2", "ms", "-1ms", "1.5ms", "2 ms", "61s", "60001ms", "1h"})
    void shouldRefuseAPaceThatIsNoneOrOutOfRange(String text) {
        assertThatThrownBy(() -> new PaceConverter().convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessage("time is illegal: pace=" + text + ", expected=1us to 60s, such as 2ms");
    }

    @Test
    void shouldReadACoreOrAny() {
        assertThat(new CpuConverter().convert("any").isBound()).isFalse();
        assertThat(new CpuConverter().convert("1").isBound()).isTrue();
        assertThat(new CpuConverter().convert("1")).hasToString("1");
        assertThat(new CpuConverter().convert("prefer:1")).hasToString("prefer:1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "ANY", "0-3", "", "99999999999", "prefer:"})
    void shouldRefuseACoreThatIsNone(String text) {
        assertThatThrownBy(() -> new CpuConverter().convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining(text);
    }
}
