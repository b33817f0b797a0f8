package io.softdpu.perf.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.softdpu.core.device.Topology;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.perf.child.ChildReport;
import io.softdpu.perf.child.ChildReport.PhaseResult;
import io.softdpu.perf.child.PhaseSpec;
import io.softdpu.perf.child.ProgressLine;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.text.TextStyle;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests of the texts of a demo: progress, table, verdict. */
class DemoTextTest {
    private static final List<ChildReport.Core> CORES =
            List.of(
                    new ChildReport.Core("any", 700, 70, 30, 0, 0, 1),
                    new ChildReport.Core("5", 300, 30, 70, 0, 0, 1));

    private static final String HASH = "0123456789abcdef0123456789abcdef";
    private static final long SECOND = 1_000_000_000L;
    private static final long SIZE = 1 << 20;
    private static final TextStyle COLOURED = TextStyle.of(true, Map.of("TERM", "xterm"));

    private final StringWriter written = new StringWriter();
    private long heapBytes;
    private long nicBytes;

    @Test
    void shouldPrintALinePerPhaseWithTheTimeLeftWhereThereIsNoTerminal() {
        DemoProgress progress = progress(1, false);
        progress.begin(List.of("any", "any", "any"));
        progress.starting("target", 1, 3);
        progress.progress(new DemoStep(DemoPhase.RANDOM_READ_4K, 1), line(0, false));
        progress.progress(new DemoStep(DemoPhase.RANDOM_READ_4K, 1), line(SECOND, false));
        progress.progress(new DemoStep(DemoPhase.RANDOM_READ_4K, 1), line(2 * SECOND, true));
        progress.progress(new DemoStep(DemoPhase.IDLE, 1), line(0, false));
        progress.end();

        assertThat(written.toString().lines())
                .containsExactly(
                        "volume: pattern in memory, 1 MiB, blocks of 4 KiB; cores of target,"
                                + " service, initiator: any, any, any",
                        "three processes, 6 phases: about 5.0 s once they have started",
                        "starting target, process 1 of 3",
                        "[5/6] random read (4 KiB, 32 in flight); 4.0 s left",
                        "[6/6] idle (4 KiB, 1 in flight); 2.0 s left");
    }

    @Test
    void shouldNotRepeatTheTimeLeftOnLinesBelowEachOther() {
        DemoProgress progress = progress(1, false);
        progress.begin(List.of("any", "any", "any"));
        for (DemoStep step : DemoStep.of(options(1))) {
            progress.progress(step, line(0, false));
        }

        assertThat(written.toString().lines().filter(line -> line.startsWith("[")))
                .containsExactly(
                        "[1/6] read volume, compare (1 MiB, 1 in flight); 5.0 s left",
                        "[2/6] write volume (1 MiB, 1 in flight)",
                        "[3/6] read back, compare (1 MiB, 1 in flight)",
                        "[4/6] warm up (4 KiB, 32 in flight)",
                        "[5/6] random read (4 KiB, 32 in flight); 4.0 s left",
                        "[6/6] idle (4 KiB, 1 in flight); 2.0 s left");
    }

    @Test
    void shouldWriteOneLineInPlaceOnATerminalAndClearItAtTheEnd() {
        DemoProgress progress = progress(3, true);
        progress.starting("target", 1, 3);
        progress.progress(new DemoStep(DemoPhase.RANDOM_READ_4K, 2), line(SECOND, false));
        progress.log("target", "hello");
        progress.starting("x".repeat(200), 2, 3);
        progress.end();

        assertThat(written.toString().split("\r\u001b\\[K", -1))
                .containsExactly(
                        "",
                        "starting target, process 1 of 3",
                        "[7/10] random read (4 KiB, 32 in flight), run 2 of 3, 0.001 GB/s; 7.0 s"
                                + " left",
                        "[target] hello" + System.lineSeparator(),
                        "starting " + "x".repeat(70),
                        "");
    }

    @Test
    void shouldRepeatTheMeasurementsByTurnsAndPrintTheMedianAndTheSpread() {
        DemoOptions options = options(3);
        assertThat(DemoPhase.plan(options))
                .extracting(PhaseSpec::name)
                .endsWith(
                        "random_read_4k",
                        "idle",
                        "random_read_4k_run2",
                        "idle_run2",
                        "random_read_4k_run3",
                        "idle_run3");
        for (DemoStep step : DemoStep.of(options)) {
            assertThat(DemoStep.ofKey(step.key())).isEqualTo(step);
        }
        DemoResult result = result(0, 300_000, 100_000, 200_000);

        List<String> lines = DemoTable.lines(options, result, TextStyle.plain());

        assertThat(lines)
                .anyMatch(line -> line.matches("random-read-4k +4 KiB +32 +200.0 k +200.0 k/s .*"))
                .contains("random-read-4k: median of 3 runs, which had 100.0 k/s to 300.0 k/s")
                .noneMatch(line -> line.startsWith("idle"))
                .noneMatch(line -> line.contains("\u001b"));
        JsonNode json = DemoJson.of(options, List.of("0", "1", "2"), result, ResultHeader.now("1"));
        assertThat(json.at("/random_read_4k/iops").asDouble()).isEqualTo(200_000);
        assertThat(json.at("/random_read_4k/runs"))
                .extracting(run -> run.get("iops").asDouble())
                .containsExactly(300_000.0, 100_000.0, 200_000.0);
        assertThat(json.at("/softdpu/options/repeat").asInt()).isEqualTo(3);
        assertThat(json.at("/softdpu/options/cpu/initiator").asText()).isEqualTo("2");
    }

    @Test
    void shouldSayInTheLastLineWhetherAllIsRight() {
        assertThat(DemoTable.verdict(result(0, 1), TextStyle.plain()))
                .startsWith("all right: 2 MiB verified, SHA-256 0123456789abcdef...; next: ");
        assertThat(DemoTable.verdict(result(0, 1), COLOURED))
                .startsWith("\u001b[32mall right\u001b[0m: ");
        assertThat(DemoTable.verdict(result(1, 1), COLOURED))
                .startsWith("\u001b[31mnot right\u001b[0m: target failed, exit=1; next: ");
    }

    @Test
    void shouldPrintNoTableWhereNoPhaseCameToItsEnd() {
        DemoResult failed =
                new DemoResult(
                        SIZE,
                        null,
                        List.of(
                                ChildOutcome.notStarted("initiator"),
                                ChildOutcome.notStarted("zero-copy"),
                                new ChildOutcome(
                                        "target",
                                        1,
                                        false,
                                        0,
                                        List.of(),
                                        new ChildReport(
                                                "NO_MEMORY",
                                                0,
                                                0,
                                                0,
                                                0,
                                                0,
                                                0,
                                                "",
                                                List.of(),
                                                null))),
                        Map.of(),
                        0,
                        null);

        assertThat(DemoTable.lines(options(1), failed, TextStyle.plain())).isEmpty();
        assertThat(DemoTable.verdict(failed, TextStyle.plain()))
                .startsWith("not right: target failed, exit=1; next: ");
    }

    @Test
    void shouldExplainOnlyFiguresThatThereAre() {
        DemoResult whole = result(0, 1);
        List<ChildOutcome> outcomes = new ArrayList<>(whole.outcomes());
        outcomes.set(2, new ChildOutcome("target", 137, false, 0, List.of(), null));
        DemoResult killed = new DemoResult(SIZE, HASH, outcomes, Map.of(), 0, null);

        assertThat(DemoTable.lines(options(1), whole, TextStyle.plain()))
                .contains("RDMA provider between zero-copy and target: shm")
                .anyMatch(line -> line.startsWith("payload copies: "))
                .anyMatch(line -> line.startsWith("heap: "));
        assertThat(DemoTable.lines(options(1), killed, TextStyle.plain()))
                .anyMatch(line -> line.startsWith("random-read-4k "))
                .noneMatch(line -> line.startsWith("payload copies: "))
                .noneMatch(line -> line.startsWith("heap: "))
                .noneMatch(line -> line.startsWith("target"));
    }

    @Test
    void shouldSayThatFewOperationsShareTheHeapOfARun() {
        String few = "heap: few operations, 5, share what is allocated once at the start and end";

        assertThat(DemoTable.lines(options(1), result(0, 5), TextStyle.plain()))
                .as("of no heap")
                .noneMatch(line -> line.startsWith(few));
        heapBytes = 30;
        assertThat(DemoTable.lines(options(1), result(0, 5), TextStyle.plain()))
                .contains(
                        "heap: 18.00 B per operation were allocated by all three processes while"
                                + " they measured.",
                        few + " of a run");
        assertThat(DemoTable.lines(options(1), result(0, 100_000), TextStyle.plain()))
                .noneMatch(line -> line.startsWith("heap: few"));
    }

    @Test
    void shouldNoteWhatMakesTheFiguresMeaningless() {
        assertThat(result(0, 1).notes(6, false)).isEmpty();
        assertThat(result(0, 1).notes(2, true))
                .containsExactly(
                        "6 threads share 2 processors: the figures are those of their scheduler",
                        "the sanitizer is on: it delays and checks each call");
    }

    @Test
    void shouldTellCopiesOfNicsFromThoseOfPrograms() {
        assertThat(DemoTable.lines(options(1), result(0, 1), TextStyle.plain()))
                .anyMatch(line -> line.matches("payload copies: 1.*; 1 is the least possible."))
                .noneMatch(line -> line.contains("NIC"));
        nicBytes = SIZE;

        assertThat(DemoTable.lines(options(1), result(0, 1), TextStyle.plain()))
                .anyMatch(line -> line.matches("payload copies: 0.* and the volume[.]"))
                .anyMatch(line -> line.matches("NIC copies: 1.*; 1 is the least possible."));
    }

    @Test
    void shouldRefuseAnIllegalNumberOfRuns() {
        assertThatThrownBy(() -> options(0)).hasMessageContaining("repeat=0, expected=1 to 1000");
        assertThatThrownBy(() -> options(1001)).hasMessageContaining("repeat=1001");
    }

    @Test
    void shouldShowEachCoreAndTheTotalOfEachProcess() {
        DemoOptions two = options(1, 2);
        DemoResult result = result(0, 1);

        List<String> lines = DemoTable.lines(two, result, TextStyle.plain());

        for (String process : List.of("initiator", "zero-copy", "target")) {
            assertThat(lines)
                    .filteredOn(line -> line.startsWith(process))
                    .satisfiesExactly(
                            total -> assertThat(total).matches(process + " +0 +1 +50.00 % .*"),
                            core -> assertThat(core).matches(process + " 0 +any +700 +70.00 % .*"),
                            core -> assertThat(core).matches(process + " 1 +5 +300 +30.00 % .*"));
        }
        assertThat(DemoTable.lines(options(1), result, TextStyle.plain()))
                .noneMatch(line -> line.startsWith("target 0"));
        JsonNode json =
                DemoJson.of(two, List.of("0,1", "2,3", "4,5"), result, ResultHeader.now("1"));
        assertThat(json.at("/softdpu/options/cores").asInt()).isEqualTo(2);
        assertThat(json.at("/softdpu/options/cpu/target").asText()).isEqualTo("0,1");
        for (JsonNode process : json.get("processes")) {
            assertThat(process.get("cores"))
                    .extracting(core -> core.get("operations").asLong())
                    .containsExactly(700L, 300L);
            assertThat(process.get("cores"))
                    .extracting(core -> core.get("cpu").asText())
                    .containsExactly("any", "5");
        }
    }

    private DemoProgress progress(int repeats, boolean terminal) {
        return new DemoProgress(options(repeats), new PrintWriter(written), terminal);
    }

    private static ProgressLine line(long nanos, boolean finished) {
        return new ProgressLine("x", finished, 1, nanos / 1000, nanos);
    }

    private static DemoOptions options(int repeats) {
        return options(repeats, 1);
    }

    private static DemoOptions options(int repeats, int cores) {
        return new DemoOptions(
                null,
                SIZE,
                4096,
                cores,
                Set.of(DemoPhase.RANDOM_READ_4K, DemoPhase.IDLE),
                2 * SECOND,
                repeats,
                ProviderChoice.AUTO,
                false,
                List.of(),
                DemoDevices.of(Topology.builtin()));
    }

    /** Runs of random reads of a second each; the target ends with an exit code. */
    private DemoResult result(int exitCode, long... operations) {
        List<PhaseResult> phases = new ArrayList<>();
        phases.add(phase("verify_read", 1, HASH));
        phases.add(phase("read_back", 1, HASH));
        Map<DemoStep, Map<String, ResourceUse>> use = new LinkedHashMap<>();
        ResourceUse used = new ResourceUse(SECOND, SECOND / 2, heapBytes);
        for (int i = 0; i < operations.length; i++) {
            DemoStep step = new DemoStep(DemoPhase.RANDOM_READ_4K, i + 1);
            phases.add(phase(step.key(), operations[i], ""));
            use.put(step, Map.of("initiator", used, "zero-copy", used, "target", used));
        }
        ChildReport initiator =
                new ChildReport(
                        "SUCCESS",
                        1,
                        1,
                        1,
                        0,
                        0,
                        1,
                        "",
                        CORES,
                        new ChildReport.Run(2 * SIZE, 2 * SIZE, phases));
        ChildReport other =
                nicBytes == 0
                        ? new ChildReport("SUCCESS", 1, 1, 1, SIZE, 0, 1, "shm", CORES, null)
                        : new ChildReport("SUCCESS", 1, 1, 1, 0, nicBytes, 1, "n", CORES, null);
        return new DemoResult(
                SIZE,
                HASH,
                List.of(
                        new ChildOutcome("initiator", 0, false, 1, List.of(), initiator),
                        new ChildOutcome("zero-copy", 0, false, 2, List.of(), other),
                        new ChildOutcome("target", exitCode, false, 0, List.of(), other)),
                use,
                0,
                null);
    }

    private static PhaseResult phase(String name, long operations, String hash) {
        return new PhaseResult(name, 4096, 32, operations, 0, SIZE, SECOND, 5, 6, 7, hash, hash);
    }
}
