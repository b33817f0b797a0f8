package io.softdpu.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.SanitizerReport;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.workload.Content;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.Workload;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The three roles in one JVM with the sanitizer: data and order are still correct. */
class SanitizedPipelineTest {
    private static final int VOLUME_BYTES = 100 * 4096;

    @TempDir private Path folder;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldCarryItsDataUnderTheSanitizerWithoutAReport(long seed) throws Exception {
        Content written = Content.pattern(6);
        Workload workload =
                new Workload(
                        List.of(
                                Phase.write("write all").transactions(8).fill(written).build(),
                                Phase.read("read back")
                                        .transactions(8)
                                        .fill(Content.zeros())
                                        .expect(written)
                                        .build()));
        List<SanitizerReport> reports = new CopyOnWriteArrayList<>();
        try (Sanitizer sanitizer = Sanitizer.start(seed)) {
            sanitizer.setListener(reports::add);
            try (Pipeline pipeline = new Pipeline(folder).cores(3, 4)) {
                StorageInitiator initiator = pipeline.start(VOLUME_BYTES, workload);

                initiator.run();

                assertThat(initiator.initiatorReport().phases().getLast().bytesVerified())
                        .isEqualTo(VOLUME_BYTES);
            }
        }
        assertThat(reports).isEmpty();
    }
}
