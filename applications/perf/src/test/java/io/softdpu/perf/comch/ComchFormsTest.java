package io.softdpu.perf.comch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.LineTimes;
import io.softdpu.perf.pair.Percentiles;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.perf.pair.PerfWait;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.text.TextStyle;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests of the results of several runs, as a table and as JSON. */
class ComchFormsTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    @Test
    void shouldPickTheRunWithTheMedianRate() {
        assertThat(summary(null, 30, 10, 20).median().operations()).isEqualTo(20);
        assertThat(summary(null, 30, 10, 20, 40).median().operations()).as("lower").isEqualTo(20);
        assertThat(summary(null, 7).median().operations()).isEqualTo(7);
    }

    @Test
    void shouldPrintTheSpreadOfSeveralRuns() {
        assertThat(lines(summary(null, 30, 10, 20)))
                .hasSize(3)
                .last()
                .isEqualTo("median of 3 runs, which had 10 to 30 messages per second");
        assertThat(lines(summary(null, 30))).as("no spread of one").hasSize(2);
        assertThat(lines(summary(null, 30, 10)))
                .last()
                .isEqualTo(
                        "lower of the two in the middle of 2 runs, which had 10 to 30 messages per"
                                + " second");
    }

    @Test
    void shouldCountRoundTripsWhereTheyAreMeasured() {
        for (ComchMode mode : List.of(ComchMode.LATENCY, ComchMode.CONTROL)) {
            ComchPlan plan = ComchPlans.of(mode).repeats(2).build();
            PerfResult<ComchPlan, ComchFigures> trips =
                    new PerfResult<>(plan, List.of(allocating(4000, 200_000), allocating(9, 0)));

            assertThat(lines(trips).getFirst()).contains("round trips").doesNotContain("messages");
            assertThat(lines(trips).get(1)).contains(" B/round trip ");
            assertThat(lines(trips)).anyMatch(line -> line.endsWith(" round trips per second"));
        }
        assertThat(lines(summary(null, 30)).getFirst())
                .contains("messages")
                .doesNotContain("round trips");
    }

    @Test
    void shouldSayThatFewOperationsShareTheHeapOfARun() {
        ComchPlan plan = ComchPlans.of(ComchMode.RATE).build();

        assertThat(lines(new PerfResult<>(plan, List.of(allocating(90, 100_000)))))
                .contains(
                        "heap: few operations, 90, share what is allocated once at the start and"
                                + " end of a run");
        for (PerfRun<ComchFigures> other : List.of(allocating(90, 0), allocating(100_000, 50))) {
            assertThat(lines(new PerfResult<>(plan, List.of(other))))
                    .noneMatch(line -> line.startsWith("heap: "));
        }
    }

    @Test
    void shouldPrintLineTimesWhereTheyWereMeasured() {
        assertThat(lines(summary(new LineTimes(110, 130), 30)))
                .last()
                .isEqualTo("round trip of a cache line: 110 ns before, 130 ns after (near)");
    }

    @Test
    void shouldPrintHowManyRunsWereOfEachClassOfLineTimes() {
        List<PerfRun<ComchFigures>> runs = new ArrayList<>();
        for (long nanos : new long[] {400, 110, 120}) {
            runs.add(summary(new LineTimes(nanos, nanos), 10).runs().getFirst());
        }
        ComchPlan plan = ComchPlans.of(ComchMode.RATE).repeats(3).build();

        assertThat(lines(new PerfResult<>(plan, runs)))
                .last()
                .isEqualTo("cache line times of all runs: 2 near, 1 far");
    }

    @Test
    void shouldWriteAllRunsAndTheMedianAsJson() {
        ObjectNode json = json(summary(new LineTimes(110, 500), 30, 10, 20));

        assertThat(json.get("messages").asLong()).isEqualTo(20);
        assertThat(json.get("runs"))
                .extracting(run -> run.get("messages").asLong())
                .containsExactly(30L, 10L, 20L);
        assertThat(json.get("line_before_ns").asLong()).isEqualTo(110);
        assertThat(json.get("line_after_ns").asLong()).isEqualTo(500);
        assertThat(json.get("distance").asText()).isEqualTo("mixed");
        assertThat(json.get("cpu").asText()).isEqualTo("2,5");
        assertThat(json.get("window").asInt()).isEqualTo(256);
    }

    @Test
    void shouldPrintTheSharesOfSeveralProducers() {
        ComchPlan plan = ComchPlans.of(ComchMode.RATE).producers(2).build();
        PerfRun<ComchFigures> run = run(400, 0, null, List.of(100L, 300L));

        assertThat(run.own().shares()).containsExactly(0.25, 0.75);
        assertThat(lines(new PerfResult<>(plan, List.of(run))))
                .last()
                .isEqualTo("2 producers; shares 25.00 % to 75.00 %");
        assertThat(json(new PerfResult<>(plan, List.of(run))).get("shares"))
                .extracting(JsonNode::asDouble)
                .containsExactly(0.25, 0.75);
    }

    @Test
    void shouldSayThatEachProducerHasAConsumerOfItsOwn() {
        ComchPlan plan = ComchPlans.of(ComchMode.RATE).producers(2).consumers(2).build();
        PerfResult<ComchPlan, ComchFigures> summary =
                new PerfResult<>(plan, List.of(run(4, 0, null, List.of(1L, 3L))));

        assertThat(lines(summary))
                .last()
                .isEqualTo("2 producers, each to a consumer of its own; shares 25.00 % to 75.00 %");
        assertThat(json(summary).get("consumers").asInt()).isEqualTo(2);
        assertThat(plan.pollers()).isEqualTo(4);
    }

    @Test
    void shouldPrintConnectionsInPlaceOfMessages() {
        ComchPlan plan = ComchPlans.of(ComchMode.IDLE).clients(3).importBytes(2048).build();
        ResourceUse use = new ResourceUse(SECOND, SECOND / 4, 0);
        IdleFigures idle = new IdleFigures(7, new Percentiles(1, 2, 3, 4), 2048, 4096, 5);
        PerfResult<ComchPlan, ComchFigures> result =
                new PerfResult<>(
                        plan,
                        List.of(
                                new PerfRun<>(
                                        0,
                                        0,
                                        null,
                                        use,
                                        use,
                                        0,
                                        null,
                                        new ComchFigures(List.of(), idle))));

        assertThat(lines(result).get(0).split(" {2,}"))
                .containsExactly(
                        "measurement",
                        "clients",
                        "wait",
                        "import",
                        "connects",
                        "connect p50",
                        "p99",
                        "max",
                        "cores used",
                        "resident",
                        "rings");
        assertThat(lines(result).get(1))
                .matches(
                        "idle +3 +adaptive +2 KiB +7 +1 ns +2 ns +4 ns +0.5000 +2 KiB/connection"
                                + " +4 KiB/connection");
        assertThat(lines(result).get(2)).startsWith("memory was imported and released 5 times");
        assertThat(json(result).properties().stream().map(Map.Entry::getKey))
                .startsWith("softdpu", "measurement", "size_bytes", "wait", "window")
                .endsWith(
                        "distance",
                        "connects",
                        "connect_p50_ns",
                        "connect_p99_ns",
                        "connect_max_ns",
                        "resident_bytes_per_connection",
                        "ring_bytes_per_connection",
                        "imports",
                        "runs",
                        "notes");
    }

    @Test
    void shouldNoteWhatMakesTheFiguresMeaningless() {
        ComchPlan shared = ComchPlans.of(ComchMode.RATE).cpus(new PerfCpus(1, 1)).build();

        assertThat(summary(null, 30).notes(2, false)).isEmpty();
        assertThat(summary(shared, null, 0, 30).notes(2, false))
                .containsExactly(
                        "2 threads share one processor: the figures are those of its scheduler");
        ComchPlan three = ComchPlans.of(ComchMode.RATE).producers(3).build();
        assertThat(summary(three, null, 0, 30).notes(4, false)).isEmpty();
        assertThat(summary(three, null, 0, 30).notes(3, false))
                .containsExactly(
                        "4 threads share 3 processors: the figures are those of their scheduler");
        ComchPlan unpinned = ComchPlans.of(ComchMode.RATE).build();
        assertThat(summary(unpinned, null, 0, 30).notes(1, true))
                .hasSize(2)
                .last()
                .isEqualTo("the sanitizer is on: it delays and checks each call");
        assertThat(summary(shared, null, 1.26, 30).notes(2, false))
                .last()
                .isEqualTo("other processes used up to 1.3 processors during a run");
        ComchPlan busy = ComchPlans.of(ComchMode.RATE).waiting(PerfWait.BUSY).build();
        assertThat(summary(busy, null, 1.26, 30).notes(2, false))
                .containsExactly(
                        "other processes used up to 1.3 processors during a run; threads that"
                                + " always poll suffer most from them");
    }

    /** Without the notes, which the machine may be a reason for. */
    private static List<String> lines(PerfResult<ComchPlan, ComchFigures> summary) {
        return new ComchForms()
                .lines(summary, TextStyle.plain()).stream()
                        .filter(line ->
                                !line.startsWith("note: ") && !line.startsWith("measured after"))
                        .toList();
    }

    private static ObjectNode json(PerfResult<ComchPlan, ComchFigures> summary) {
        return new ComchForms().json(summary, ResultHeader.now("1"), "default");
    }

    private static PerfResult<ComchPlan, ComchFigures> summary(
            @Nullable LineTimes times, long... messages) {
        ComchPlan plan =
                ComchPlans.of(ComchMode.RATE)
                        .repeats(messages.length)
                        .cpus(new PerfCpus(2, 5))
                        .build();
        return summary(plan, times, 0, messages);
    }

    private static PerfResult<ComchPlan, ComchFigures> summary(
            ComchPlan plan, @Nullable LineTimes times, double others, long... messages) {
        List<PerfRun<ComchFigures>> runs = new ArrayList<>();
        for (long each : messages) {
            runs.add(run(each, others, times, List.of(each, each)));
        }
        return new PerfResult<>(plan, runs);
    }

    /** A run in which both processes together allocate these bytes. */
    private static PerfRun<ComchFigures> allocating(long messages, long bytes) {
        ResourceUse use = new ResourceUse(SECOND, 0, bytes / 2);
        ComchFigures own = new ComchFigures(List.of(messages), null);
        return new PerfRun<>(messages, SECOND, null, use, use, 0, null, own);
    }

    private static PerfRun<ComchFigures> run(
            long messages, double others, @Nullable LineTimes times, List<Long> sent) {
        ResourceUse use = new ResourceUse(SECOND, 0, 0);
        ComchFigures own = new ComchFigures(sent, null);
        return new PerfRun<>(messages, SECOND, null, use, use, others, times, own);
    }
}
