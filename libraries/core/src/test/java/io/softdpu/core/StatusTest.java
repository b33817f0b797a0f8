package io.softdpu.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.testkit.Clause;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class StatusTest {
    private static final List<String> OF_THE_GUIDE =
            List.of(
                    "SUCCESS",
                    "UNKNOWN",
                    "NOT_PERMITTED",
                    "IN_USE",
                    "NOT_SUPPORTED",
                    "AGAIN",
                    "INVALID_VALUE",
                    "NO_MEMORY",
                    "INITIALIZATION",
                    "TIME_OUT",
                    "SHUTDOWN",
                    "CONNECTION_RESET",
                    "CONNECTION_ABORTED",
                    "CONNECTION_INPROGRESS",
                    "NOT_CONNECTED",
                    "NO_LOCK",
                    "NOT_FOUND",
                    "IO_FAILED",
                    "BAD_STATE",
                    "UNSUPPORTED_VERSION",
                    "OPERATING_SYSTEM",
                    "DRIVER",
                    "UNEXPECTED",
                    "ALREADY_EXIST",
                    "FULL",
                    "EMPTY",
                    "IN_PROGRESS");

    private static final List<String> OF_LATER_RELEASES =
            List.of("TOO_BIG", "AUTHENTICATION", "BAD_CONFIG", "SKIPPED", "DEVICE_FATAL_ERROR");

    @Test
    @Clause({
        "core-011", "core-012", "core-013", "core-014", "core-015", "core-016", "core-017",
        "core-018", "core-019", "core-020", "core-021", "core-022", "core-023", "core-024"
    })
    void shouldHaveTheCodesOfTheGuideInTheirOrder() {
        for (int code = 0; code < OF_THE_GUIDE.size(); code++) {
            Status status = Status.valueOf(OF_THE_GUIDE.get(code));
            assertThat(status.code()).isEqualTo(code);
            assertThat(Status.ofCode(code)).isEqualTo(status);
            assertThat(status.description()).matches("[a-z/, ]+");
        }
    }

    @Test
    void shouldHaveTheCodesOfLaterReleasesBehindThem() {
        for (int i = 0; i < OF_LATER_RELEASES.size(); i++) {
            assertThat(Status.valueOf(OF_LATER_RELEASES.get(i)).code()).isEqualTo(27 + i);
        }
        assertThat(Status.values()).hasSize(32);
        assertThat(Arrays.stream(Status.values()).map(Status::description)).doesNotHaveDuplicates();
    }

    @Test
    void shouldReadANumberItDoesNotKnowAsUnknown() {
        assertThat(Status.ofCode(32)).isEqualTo(Status.UNKNOWN);
        assertThat(Status.ofCode(-1)).isEqualTo(Status.UNKNOWN);
        assertThat(Status.ofCode(Integer.MAX_VALUE)).isEqualTo(Status.UNKNOWN);
    }

    @Test
    @Clause("core-010")
    void shouldCarryTheStatusInTheException() {
        DpuException e = new DpuException(Status.NOT_FOUND, "no such thing: name=x");
        assertThat(e.status()).isEqualTo(Status.NOT_FOUND);
        assertThat(e).hasMessage("no such thing: name=x").asString().contains(": NOT_FOUND: no");
        assertThat(Status.SUCCESS.isError()).isFalse();
        assertThat(Status.AGAIN.isError()).isTrue();
        assertThatThrownBy(() -> new DpuException(Status.SUCCESS, "fine"))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        refused -> assertThat(refused.status()).isEqualTo(Status.INVALID_VALUE));
    }
}
