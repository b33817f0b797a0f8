package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.SanitizerReport;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Runs samples under the sanitizer of this JVM. */
final class Sanitized {
    private Sanitized() {}

    /** Runs something to its end; the sanitizer must have nothing to report. */
    static void run(long seed, Runnable samples) {
        List<SanitizerReport> reports = Collections.synchronizedList(new ArrayList<>());
        try (Sanitizer sanitizer = Sanitizer.start(seed)) {
            sanitizer.setListener(reports::add);
            samples.run();
        }
        assertThat(reports).as("seed %d", seed).isEmpty();
    }
}
