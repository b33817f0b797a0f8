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
    @Clause("core-013")
    void shouldHaveTheCodesOfTheGuideInTheirOrder() {
        assertThat(OF_THE_GUIDE).hasSize(27);
        for (int code = 0; code < OF_THE_GUIDE.size(); code++) {
            Status status = Status.valueOf(OF_THE_GUIDE.get(code));
            assertThat(status.code()).isEqualTo(code);
            assertThat(Status.ofCode(code)).isEqualTo(status);
            assertThat(status.description()).matches("[a-z][a-z/, ]+");
        }
        assertThat(OF_THE_GUIDE)
                .extracting(name -> Status.valueOf(name).description())
                .doesNotHaveDuplicates();
    }

    @Test
    @Clause({"core-011", "core-012", "core-016"})
    void shouldHaveStatusesOfSuccessGeneralFailureAndWrongInput() {
        assertStatus("SUCCESS", 0, "success");
        assertThat(Status.SUCCESS.isError()).isFalse();
        assertStatus("UNKNOWN", 1, "unknown error");
        assertThat(Status.UNKNOWN.isError()).isTrue();
        assertStatus("INVALID_VALUE", 6, "invalid input");
    }

    @Test
    @Clause({"core-014", "core-017"})
    void shouldHaveStatusesOfWhatIsNotPermittedSupportedOrAvailable() {
        assertStatus("NOT_PERMITTED", 2, "operation not permitted");
        assertStatus("NOT_SUPPORTED", 4, "operation not supported");
        assertStatus("NO_MEMORY", 7, "memory allocation failure");
        assertStatus("INITIALIZATION", 8, "resource initialisation failure");
    }

    @Test
    @Clause("core-015")
    void shouldHaveFiveStatusesOfResources() {
        assertStatus("IN_USE", 3, "resource already in use");
        assertStatus("AGAIN", 5, "resource temporarily unavailable, try again");
        assertStatus("ALREADY_EXIST", 23, "resource already exists");
        assertStatus("FULL", 24, "no more space in resource");
        assertStatus("EMPTY", 25, "no entry is available in resource");
    }

    @Test
    @Clause({"core-018", "core-019", "core-024"})
    void shouldHaveStatusesOfTimersLocksShutdownAndProgress() {
        assertStatus("TIME_OUT", 9, "timer expired waiting for resource");
        assertStatus("NO_LOCK", 15, "unable to acquire required lock");
        assertStatus("SHUTDOWN", 10, "shut down in process or completed");
        assertStatus("IN_PROGRESS", 26, "operation is in progress");
        assertThat(OF_THE_GUIDE).endsWith("IN_PROGRESS");
    }

    @Test
    @Clause({"core-020", "core-021"})
    void shouldHaveStatusesOfConnectionsAndOfInputAndOutput() {
        assertStatus("CONNECTION_RESET", 11, "connection reset by peer");
        assertStatus("CONNECTION_ABORTED", 12, "connection aborted");
        assertStatus("CONNECTION_INPROGRESS", 13, "connection in progress");
        assertStatus("NOT_CONNECTED", 14, "not connected");
        assertStatus("NOT_FOUND", 16, "resource not found");
        assertStatus("IO_FAILED", 17, "input/output operation failed");
    }

    @Test
    @Clause({"core-022", "core-023"})
    void shouldHaveStatusesOfStatesVersionsAndWhatIsBelow() {
        assertStatus("BAD_STATE", 18, "bad state");
        assertStatus("UNSUPPORTED_VERSION", 19, "unsupported version");
        assertStatus("OPERATING_SYSTEM", 20, "operating system call failure");
        assertStatus("DRIVER", 21, "driver call failure");
        assertStatus("UNEXPECTED", 22, "an unexpected scenario was detected");
    }

    private static void assertStatus(String name, int code, String description) {
        Status status = Status.valueOf(name);
        assertThat(status.code()).isEqualTo(code);
        assertThat(status.description()).isEqualTo(description);
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
