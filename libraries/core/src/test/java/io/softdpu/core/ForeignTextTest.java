package io.softdpu.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.testkit.HostileText;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Text of other processes in a fabric folder, as it appears in exceptions. */
class ForeignTextTest {
    private static final String NO_SPACE = HostileText.of(HostileText.LONG).replace('\n', 'n');

    @TempDir Path folder;

    static Stream<String> notes() {
        String good = Topology.builtin().canonicalText();
        String head = good.lines().findFirst().orElseThrow() + "\n";
        String first = good.lines().skip(1).findFirst().orElseThrow();
        return Stream.of(
                HostileText.of(HostileText.LONG),
                good + HostileText.of(HostileText.LONG).replace('\n', 'n'),
                head + NO_SPACE + "\n",
                head + first + " " + NO_SPACE + "\n",
                head + first.replaceFirst("side=\\S+", "side=evil\u001b[2J") + "\n",
                head + first.replaceFirst("mac=\\S+", "mac=" + NO_SPACE) + "\n",
                head + first + " limit.x=" + NO_SPACE.replaceAll("\\s", "") + "\n");
    }

    @ParameterizedTest
    @MethodSource("notes")
    void shouldShowANoteOfPluggedFunctionsEscapedAndCut(String note) throws Exception {
        try (Machine machine = Machine.builder(Side.DPU).fabricFolder(folder).open()) {
            Files.writeString(folder.resolve("hotplug"), note);

            DpuException failure = catchThrowableOfType(DpuException.class, machine::topologyNow);

            assertThat(failure.status()).isEqualTo(Status.BAD_CONFIG);
            for (Throwable one = failure; one != null; one = one.getCause()) {
                assertThat(one.getMessage()).hasSizeLessThan(1500);
                if (one instanceof DpuException) {
                    assertThat(one.getMessage()).doesNotContainPattern("\\p{Cntrl}|\\p{Cf}");
                }
            }
        }
    }

    @Test
    void shouldKeepEachMessageInOneLineAndWhole() {
        String typed = HostileText.of(100_000);

        DpuException failure = new DpuException(Status.NOT_FOUND, "no such file: file=" + typed);

        HostileText.requireOneLine(failure.getMessage());
        assertThat(failure.getMessage()).endsWith("z".repeat(90_000));
    }
}
