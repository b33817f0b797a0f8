package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.OwnFabric;
import io.softdpu.testkit.SeededRandom;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.stream.LongStream;
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
    void shouldRunUnderTheSanitizerWithoutAReport(String name, SeededRandom random) {
        long any = random.between(SEEDS + 1, 1_000_000);
        LongStream.concat(LongStream.rangeClosed(1, SEEDS), LongStream.of(any))
                .forEach(seed -> {
                    ByteArrayOutputStream said = new ByteArrayOutputStream();
                    PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
                    Sanitized.run(
                            seed, () -> SampleProgram.find(name).run(SampleSettings.NONE, out));
                    assertThat(said.toString(StandardCharsets.UTF_8)).isNotBlank();
                });
    }
}
