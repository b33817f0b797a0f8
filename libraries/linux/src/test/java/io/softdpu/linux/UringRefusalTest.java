package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SystemCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** Rings on a thread that a seccomp filter forbids them; the filter ends with the thread. */
final class UringRefusalTest {
    private static final int IO_URING_SETUP = 425;

    @Test
    void shouldNameAFilterThatForbidsRings() throws Exception {
        assumeTrue(isEnabled(), "a sysctl forbids io_uring on this machine");

        assertThat(refusalUnderFilter(Errno.EPERM))
                .isEqualTo(
                        "io_uring_setup failed: errno=1 (EPERM), entries=8, completions=16,"
                                + " cause=a seccomp filter");
    }

    @Test
    void shouldNameAFilterThatHidesRings() throws Exception {
        assertThat(refusalUnderFilter(Errno.ENOSYS))
                .isEqualTo(
                        "io_uring_setup failed: errno=38 (ENOSYS), entries=8, completions=16,"
                                + " cause=a seccomp filter");
    }

    @Test
    void shouldNameALackOfMemory() throws Exception {
        assertThat(refusalUnderFilter(Errno.ENOMEM))
                .startsWith("io_uring_setup failed: errno=12 (ENOMEM), entries=8, completions=16")
                .contains("ulimit -l");
    }

    private static boolean isEnabled() throws IOException {
        Path sysctl = Path.of("/proc/sys/kernel/io_uring_disabled");
        return !Files.exists(sysctl) || Files.readString(sysctl).strip().equals("0");
    }

    private static String refusalUnderFilter(int errno)
            throws InterruptedException, ExecutionException, TimeoutException {
        FutureTask<String> attempt =
                new FutureTask<>(() -> {
                    try {
                        SystemCalls.forbid(IO_URING_SETUP, errno);
                    } catch (SystemCalls.Failed e) {
                        return e.getMessage();
                    }
                    try (OpenFiles files = new OpenFiles()) {
                        assertThat(files).isNotNull(); // checks that no descriptor is left
                        assertThat(Uring.refusal())
                                .startsWith("io_uring_setup failed: errno=" + errno + " (");
                        new Uring(8, 16).close();
                        return "no failure";
                    } catch (LinuxException e) {
                        return e.getMessage();
                    }
                });
        Thread thread = Thread.ofPlatform().start(attempt);
        String result = attempt.get(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(thread.join(Patience.DEADLINE)).isTrue();
        if (result.startsWith("prctl")) {
            abort(result);
        }
        return result;
    }
}
