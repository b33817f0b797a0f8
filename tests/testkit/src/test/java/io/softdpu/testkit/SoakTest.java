package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SoakTest {

    private final @Nullable String before = System.getProperty(Soak.LEVEL_PROPERTY);

    @AfterEach
    void restoreLevel() {
        if (before == null) {
            System.clearProperty(Soak.LEVEL_PROPERTY);
        } else {
            System.setProperty(Soak.LEVEL_PROPERTY, before);
        }
    }

    @ParameterizedTest
    @CsvSource({"verify, 10, 5, false", "full, 200, 6, false", "soak, 3000, 7, true"})
    void shouldChooseTheAmountByTheLevel(String level, int count, int seconds, boolean isLong) {
        System.setProperty(Soak.LEVEL_PROPERTY, level);

        assertThat(Soak.count(10, 200, 3000)).isEqualTo(count);
        assertThat(
                        Soak.duration(
                                Duration.ofSeconds(5),
                                Duration.ofSeconds(6),
                                Duration.ofSeconds(7)))
                .hasSeconds(seconds);
        assertThat(Soak.isLong()).isEqualTo(isLong);
    }

    @Test
    void shouldBeTheLevelVerifyUnlessTheBuildNamesOne() {
        System.clearProperty(Soak.LEVEL_PROPERTY);

        assertThat(Soak.count(1, 2, 3)).isEqualTo(1);
    }

    @Test
    void shouldRefuseALevelThatThereIsNot() {
        System.setProperty(Soak.LEVEL_PROPERTY, "quick");

        assertThatThrownBy(() -> Soak.count(1, 2, 3)).hasMessageContaining("QUICK");
    }

    @Test
    void shouldReportWhatRepeatsIt() {
        System.setProperty(Soak.LEVEL_PROPERTY, "soak");

        assertThat(Soak.line("rings", -2, Duration.ofMillis(1250), "rounds=2, errors=1"))
                .isEqualTo("soak: name=rings, form=long, seed=-2, seconds=1.3, rounds=2, errors=1");
    }
}
