package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Patience;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Start without the JVM option for native access where the JVM denies it, in another process. */
@StartsProcesses
final class DeniedNativeAccessTest {
    @Test
    void shouldNameTheJvmOptionThatAllowsNativeAccess() throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "--illegal-native-access=deny",
                                "-cp",
                                System.getProperty("java.class.path"),
                                Program.class.getName())
                        .redirectErrorStream(true)
                        .start();
        try (var reader = process.inputReader()) {
            String output = String.join("\n", reader.readAllLines());

            assertThat(process.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(output)
                    .contains("native access is denied: function=")
                    .contains("expected=the JVM option --enable-native-access=ALL-UNNAMED");
        } finally {
            process.destroyForcibly();
        }
    }

    /** Uses libc in a JVM that denies it. */
    static final class Program {
        private Program() {}

        public static void main(String[] args) {
            System.out.println("allowed: descriptor=" + EventFd.create());
        }
    }
}
