package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.StartsProcesses;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of the measurements on a machine where a process takes long to start. */
@StartsProcesses
class PerfSlowStartTest extends PerfFixture {
    PerfSlowStartTest() {
        super("comch, sync-event and rdma", 8);
    }

    /**
     * All beside each other, since each mostly waits. A measurement that its other half has joined
     * before the signal comes has to wait for it as well.
     */
    @Test
    void shouldWaitForAnOtherHalfThatStartsLate() {
        List<ChildProcess> measurements =
                List.of(
                        perfOf("comch", "latency", "--seconds", "3600"),
                        perfOf("sync-event", "latency", "--seconds", "3600"),
                        perfOf("rdma", "latency", "--seconds", "3600", "--op", "write"));
        List<ProcessHandle> others = measurements.stream().map(PerfFixture::startedHalf).toList();
        others.forEach(other -> signal(other, "STOP"));

        assertThat(
                        Await.holdsWithin(
                                Duration.ofSeconds(12),
                                () -> measurements.stream().anyMatch(it -> !it.isAlive())))
                .as("ended before its other half has started")
                .isFalse();
        others.forEach(other -> signal(other, "CONT"));
        measurements.forEach(this::otherHalf);
        measurements.forEach(it -> it.signal("INT"));

        assertThat(measurements)
                .allSatisfy(it ->
                        assertThat(it.awaitExit())
                                .as("%s", it.errorLines())
                                .isEqualTo(ExitCode.INTERRUPTED.code()));
        assertNothingLeft();
    }
}
