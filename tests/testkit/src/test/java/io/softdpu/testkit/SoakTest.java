package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SoakTest {

    private String before;

    @BeforeEach
    void keepForm() {
        before = System.getProperty(Soak.SOAK_PROPERTY, "false");
    }

    @AfterEach
    void restoreForm() {
        System.setProperty(Soak.SOAK_PROPERTY, before);
    }

    @Test
    void shouldChooseTheShortFormUnlessAskedForTheLong() {
        System.setProperty(Soak.SOAK_PROPERTY, "false");

        assertThat(Soak.count(10, 200)).isEqualTo(10);
        assertThat(Soak.duration(Duration.ofSeconds(5), Duration.ofSeconds(60))).hasSeconds(5);
    }

    @Test
    void shouldChooseTheLongFormUnderTheProperty() {
        System.setProperty(Soak.SOAK_PROPERTY, "true");

        assertThat(Soak.count(10, 200)).isEqualTo(200);
        assertThat(Soak.duration(Duration.ofSeconds(5), Duration.ofSeconds(60))).hasSeconds(60);
    }

    @Test
    void shouldReportWhatRepeatsIt() {
        System.setProperty(Soak.SOAK_PROPERTY, "true");

        assertThat(Soak.line("rings", -2, Duration.ofMillis(1250), "rounds=2, errors=1"))
                .isEqualTo("soak: name=rings, form=long, seed=-2, seconds=1.3, rounds=2, errors=1");
    }
}
