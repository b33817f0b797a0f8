package io.softdpu.perf.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.perf.child.ChildReport;
import io.softdpu.perf.child.ChildReport.PhaseResult;
import io.softdpu.perf.child.ResourceUse;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoResultTest {
    private static final long SIZE = 1 << 20;
    private static final String RESET = "softdpu: CONNECTION_RESET: peer is gone: peer=x";

    @TempDir Path folder;

    @Test
    void shouldBeValidOnlyIfAllDataWasRightAndAllEndedWell() {
        assertThat(result("aa", ended("target", 0, 1)).valid()).isTrue();
        assertThat(result("bb", ended("target", 0, 1)).valid()).isFalse();
        assertThat(result("aa", ended("target", 1, 1)).valid()).isFalse();
    }

    @Test
    void shouldCountTheCopiesOfAllProcessesByThePayloadMoved() {
        DemoResult result = result("aa", ended("target", 0, 1));

        assertThat(result.payloadCopies()).hasValue(1.0);
        // 6 bytes in the one measurement there is, of 2 operations.
        assertThat(result.allocatedBytesPerOperation()).hasValue(3.0);
        assertThat(result.processors(new DemoStep(DemoPhase.RANDOM_READ_4K, 1))).hasValue(0.875);
        assertThat(result.processors(new DemoStep(DemoPhase.IDLE, 1))).isEmpty();
    }

    @Test
    void shouldCountABounceCopyInTheService() {
        DemoResult result = result("aa", ended("target", 0, 1), report(2 * SIZE));

        assertThat(result.payloadCopies()).hasValue(2.0);
    }

    @Test
    void shouldCountTheCopiesOfNicsApartFromThoseOfPrograms() {
        ChildReport target = new ChildReport("SUCCESS", 3, 1, 3, 0, SIZE, 64, "n", List.of(), null);
        ChildReport service = new ChildReport("SUCCESS", 3, 1, 3, 0, SIZE, 9, "n", List.of(), null);

        DemoResult result =
                result("aa", new ChildOutcome("target", 0, false, 1, List.of(), target), service);

        assertThat(result.nicCopies()).hasValue(1.0);
        assertThat(result.payloadCopies()).hasValue(0.0);
        assertThat(result("aa", ended("target", 0, 1)).nicCopies()).hasValue(0.0);
    }

    @Test
    void shouldNotCountCopiesWhereAReportIsMissing() {
        DemoResult result = result("aa", ended("target", 0, 1), (ChildReport) null);

        assertThat(result.payloadCopies()).isEmpty();
        assertThat(result.nicCopies()).isEmpty();
    }

    @Test
    void shouldBlameTheProcessThatASignalEndedBeforeThoseThatLostIt() {
        DemoResult result =
                result(
                        "aa",
                        new ChildOutcome("target", 137, false, 2, List.of(), null),
                        new ChildOutcome("zero-copy", 1, false, 0, List.of(RESET), null),
                        new ChildOutcome("initiator", 1, false, 1, List.of(RESET), null));

        assertThat(result.culprit()).map(ChildOutcome::name).contains("target");
        assertThat(result.culprit().orElseThrow().howItEnded())
                .startsWith("exit=137 (SIGKILL, ")
                .contains("lack of memory");
    }

    @Test
    void shouldBlameTheProcessWithAFaultOfItsOwnBeforeThoseThatLostIt() {
        DemoResult result =
                result(
                        "aa",
                        new ChildOutcome("target", 1, false, 0, List.of(RESET), null),
                        ChildOutcome.notStarted("zero-copy"),
                        new ChildOutcome(
                                "initiator",
                                3,
                                false,
                                1,
                                List.of("softdpu: IO_FAILED: data differs: offsetBytes=9"),
                                null));

        assertThat(result.culprit()).map(ChildOutcome::name).contains("initiator");
    }

    @Test
    void shouldReadBackTheReportThatAChildWrote() throws IOException {
        ChildReport initiator = initiator("aa");
        ChildReport target = report(7);

        initiator.write(folder.resolve("initiator.json"));
        target.write(folder.resolve("target.json"));

        assertThat(ChildReport.read(folder.resolve("initiator.json"))).isEqualTo(initiator);
        assertThat(ChildReport.read(folder.resolve("target.json"))).isEqualTo(target);
    }

    private static DemoResult result(String actual, ChildOutcome target) {
        return result(actual, target, report(0));
    }

    private static DemoResult result(
            String actual, ChildOutcome target, @Nullable ChildReport service) {
        return result(
                actual,
                target,
                new ChildOutcome("zero-copy", 0, false, 0, List.of(), service),
                new ChildOutcome("initiator", 0, false, 0, List.of(), initiator(actual)));
    }

    private static DemoResult result(
            String actual, ChildOutcome target, ChildOutcome service, ChildOutcome initiator) {
        Map<String, ResourceUse> use =
                Map.of(
                        "initiator", new ResourceUse(1000, 250, 3),
                        "zero-copy", new ResourceUse(1000, 500, 2),
                        "target", new ResourceUse(1000, 125, 1));
        return new DemoResult(
                SIZE,
                "aa",
                List.of(initiator, service, target),
                Map.of(new DemoStep(DemoPhase.RANDOM_READ_4K, 1), use),
                0,
                null);
    }

    private static ChildOutcome ended(String name, int exitCode, int order) {
        return new ChildOutcome(name, exitCode, false, order, List.of(), report(2 * SIZE));
    }

    private static ChildReport report(long payloadBytesCopied) {
        return new ChildReport(
                "SUCCESS", 3, 1, 3, payloadBytesCopied, 0, 64, "shm", List.of(), null);
    }

    static ChildReport initiator(String actual) {
        return new ChildReport(
                "SUCCESS",
                4,
                1,
                3,
                0,
                0,
                128,
                "",
                List.of(),
                new ChildReport.Run(
                        2 * SIZE,
                        2 * SIZE,
                        List.of(
                                phase(DemoPhase.VERIFY_READ, "aa", actual),
                                phase(DemoPhase.READ_BACK, "cc", "cc"),
                                phase(DemoPhase.RANDOM_READ_4K, "", ""))));
    }

    private static PhaseResult phase(DemoPhase phase, String expected, String actual) {
        return new PhaseResult(
                phase.key(),
                4096,
                16,
                phase == DemoPhase.RANDOM_READ_4K ? 2 : 1,
                0,
                SIZE,
                1_000_000,
                5,
                6,
                7,
                expected,
                actual);
    }
}
