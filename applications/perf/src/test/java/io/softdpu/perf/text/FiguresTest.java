package io.softdpu.perf.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FiguresTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "64, 64",
        "999, 999",
        "1000, 1.000 k",
        "3670302, 3.670 M",
        "999960, 1.000 M",
        "999940, 999.9 k",
        "489.32, 489.3",
        "2e15, 2000 T"
    })
    void shouldCountWithFourDigits(double value, String text) {
        assertThat(Figures.count(value)).isEqualTo(text);
        assertThat(Figures.perSecond(value)).isEqualTo(text + "/s");
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1 ns",
        "950, 950 ns",
        "2950, 2.950 us",
        "12877800, 12.88 ms",
        "1500000000, 1.500 s",
        "72000000000000, 72000 s"
    })
    void shouldWriteTimesInTheUnitThatFits(double nanos, String text) {
        assertThat(Figures.time(nanos)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1, 1.000",
        "0.05123456, 0.05123",
        "0.313, 0.3130",
        "0.0065, 0.0065",
        "5.0107, 5.011",
        "31.246, 31.25",
        "312.46, 312.5",
        "9999.6, 10000",
        "123456, 123500"
    })
    void shouldWriteNumbersWithFourDigits(double value, String text) {
        assertThat(Figures.number(value)).isEqualTo(text);
        assertThat(Figures.gigabytesPerSecond(value)).isEqualTo(text + " GB/s");
    }

    @Test
    void shouldRoundNumbersForPrograms() {
        assertThat(Figures.rounded(1223410.3)).isEqualTo(1223000);
        assertThat(Figures.rounded(-0.0123456)).isEqualTo(-0.01235);
        assertThat(Figures.rounded(0)).isZero();
        assertThat(Figures.rounded(Double.NaN)).isNaN();
    }

    @Test
    void shouldWriteDurations() {
        assertThat(Figures.seconds(300_000_000L)).isEqualTo("0.3 s");
        assertThat(Figures.seconds(94_600_000_000L)).isEqualTo("95 s");
        assertThat(Figures.seconds(600_000_000_000L)).isEqualTo("10 min");
        assertThat(Figures.seconds(322_139_000_000_000L)).isEqualTo("89 h");
        assertThat(Figures.percent(30.018)).isEqualTo("30.02 %");
    }
}
