package io.softdpu.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the check of descriptors before processes are started. */
class DescriptorLimitTest {
    @TempDir Path root;

    private KernelFiles limit(String soft) throws IOException {
        Files.createDirectories(root.resolve("proc/self"));
        Files.writeString(
                root.resolve("proc/self/limits"),
                "Limit                     Soft Limit           Hard Limit           Units\n"
                        + "Max open files            "
                        + soft
                        + "                   1048576              files\n");
        return new KernelFiles(root);
    }

    @Test
    void shouldNameTheLimitAndWhatIsNeeded() throws IOException {
        KernelFiles files = limit("64");

        assertThatThrownBy(() -> DescriptorLimit.require("demo", 96, files))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        refused -> assertThat(refused.status()).isEqualTo(Status.OPERATING_SYSTEM))
                .hasMessageContaining(
                        "command=demo, resource=RLIMIT_NOFILE, limit=64, expected=96 or more");
    }

    @ParameterizedTest
    @ValueSource(strings = {"96", "1024", "unlimited"})
    void shouldAcceptALimitThatIsEnough(String soft) throws IOException {
        KernelFiles files = limit(soft);

        assertThatCode(() -> DescriptorLimit.require("demo", 96, files)).doesNotThrowAnyException();
    }

    @Test
    void shouldAcceptALimitThatTheKernelDoesNotTell() {
        assertThatCode(() -> DescriptorLimit.require("demo", 96, new KernelFiles(root)))
                .doesNotThrowAnyException();
    }
}
