package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.SanitizerReport;
import io.softdpu.testkit.OwnFabric;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the samples under the sanitizer: they work, and are reported for no mistake. */
@ExtendWith(OwnFabric.class)
class SanitizedSamplesTest {
    private static final int SEEDS = 5;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "pe-polling",
                "pe-event",
                "pe-reactive",
                "pe-async-stop",
                "pe-multi-context",
                "pe-task-error",
                "pe-task-resubmit",
                "pe-graph",
                "workq",
                "graph",
                "sha"
            })
    void shouldRunUnderTheSanitizerWithoutAReport(String name) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            List<SanitizerReport> reports = new ArrayList<>();
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            try (Sanitizer sanitizer = Sanitizer.start(seed)) {
                sanitizer.setListener(reports::add);
                SampleProgram.find(name)
                        .run(
                                SampleSettings.NONE,
                                new PrintStream(said, true, StandardCharsets.UTF_8));
            }
            assertThat(reports).as("%s with seed %d", name, seed).isEmpty();
            assertThat(said.toString(StandardCharsets.UTF_8)).isNotBlank();
        }
    }
}
