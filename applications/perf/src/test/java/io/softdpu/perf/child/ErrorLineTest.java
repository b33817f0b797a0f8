package io.softdpu.perf.child;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ErrorLineTest {
    @ParameterizedTest
    @EnumSource(Status.class)
    void shouldReadBackTheStatusThatItWrites(Status status) {
        String line = ErrorLine.of(status, "peer is gone: peer=x");

        assertThat(line).isEqualTo("softdpu: " + status + ": peer is gone: peer=x");
        assertThat(ErrorLine.isError(line)).isTrue();
        assertThat(ErrorLine.statusOf(line)).contains(status);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "softdpu: see `softdpu demo --help` for what there is",
                "softdpu: NOT_FOUND",
                "NOT_FOUND: no device: device=x",
                "12:00:00.000 INFO    target: CONNECTED",
                ""
            })
    void shouldFindNoStatusInAnotherLine(String line) {
        assertThat(ErrorLine.statusOf(line)).isEmpty();
    }
}
