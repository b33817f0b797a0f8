package io.softdpu.cli.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.testkit.Clause;
import java.util.Arrays;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class LogLevelTest {
    @ParameterizedTest
    @CsvSource({
        "10,DISABLE",
        "20,CRITICAL",
        "30,ERROR",
        "40,WARNING",
        "50,INFO",
        "60,DEBUG",
        "70,TRACE"
    })
    @Clause("sto-027")
    void shouldTakeTheNumbersOfTheDocaPrograms(String number, LogLevel level) {
        assertThat(LogLevel.of(number)).isEqualTo(level);
    }

    @ParameterizedTest
    @EnumSource
    void shouldTakeNamesInAnyCase(LogLevel level) {
        assertThat(LogLevel.of(level.name())).isEqualTo(level);
        assertThat(LogLevel.of(level.name().toLowerCase(Locale.ROOT))).isEqualTo(level);
    }

    @Test
    void shouldRefuseAnotherLevelAndNameThoseThereAre() {
        assertThatThrownBy(() -> LogLevel.of("55"))
                .hasMessage(
                        "no such log level: level=55, expected=one of 10=DISABLE, 20=CRITICAL,"
                                + " 30=ERROR, 40=WARNING, 50=INFO, 60=DEBUG, 70=TRACE");
    }

    @ParameterizedTest
    @CsvSource({
        "DISABLE,''",
        "CRITICAL,ERROR",
        "ERROR,ERROR",
        "WARNING,WARNING ERROR",
        "INFO,INFO WARNING ERROR",
        "DEBUG,DEBUG INFO WARNING ERROR",
        "TRACE,TRACE DEBUG INFO WARNING ERROR"
    })
    void shouldShowItsOwnLinesAndThoseOfTheLevelsAbove(LogLevel level, String shown) {
        assertThat(
                        String.join(
                                " ",
                                Arrays.stream(System.Logger.Level.values())
                                        .filter(l -> l != System.Logger.Level.ALL)
                                        .filter(level::shows)
                                        .map(Enum::name)
                                        .toList()))
                .isEqualTo(shown);
    }
}
