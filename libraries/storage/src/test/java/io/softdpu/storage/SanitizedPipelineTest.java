package io.softdpu.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.BlockDevice;
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
import org.junit.jupiter.params.provider.CsvSource;

/** The three roles in one JVM with the sanitizer: data and order are still correct. */
class SanitizedPipelineTest {
    private static final int VOLUME_BYTES = 100 * 4096;

    @TempDir private Path folder;

    @ParameterizedTest
    @CsvSource({
        "1, memory:400KiB",
        "2, memory:400KiB",
        "3, memory:400KiB",
        "4, fault:seed=1:memory:400KiB"
    })
    void shouldCarryItsDataUnderTheSanitizerWithoutAReport(long seed, String volume)
            throws Exception {
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
                pipeline.startService(pipeline.startTarget(BlockDevice.open(volume)).port());
                StorageInitiator initiator = pipeline.openInitiator(workload);

                initiator.run();

                assertThat(initiator.initiatorReport().phases().getLast().bytesVerified())
                        .isEqualTo(VOLUME_BYTES);
            }
        }
        assertThat(reports).isEmpty();
    }
}
