package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ClauseTest {

    @Clause({"example-1", "example-2"})
    private static final class Marked {}

    @Test
    void shouldBeReadableWhileTestsRun() {
        assertThat(Marked.class.getAnnotation(Clause.class).value())
                .containsExactly("example-1", "example-2");
    }

    @Test
    void shouldRunOnTheJdkThatTheToolchainFound() {
        assertThat(Runtime.version().feature()).isGreaterThanOrEqualTo(25);
    }
}
