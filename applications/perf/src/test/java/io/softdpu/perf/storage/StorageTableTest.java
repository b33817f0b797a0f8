package io.softdpu.perf.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.storage.SessionReport;
import io.softdpu.storage.initiator.InitiatorReport;
import java.util.List;
import org.junit.jupiter.api.Test;

class StorageTableTest {
    @Test
    void shouldShowEachCoreAndTheTotal() {
        assertThat(StorageTable.lines(StorageFixture.session("target")))
                .satisfiesExactly(
                        line -> assertThat(line).isEqualTo("target: data path:"),
                        line ->
                                assertThat(line)
                                        .matches(
                                                "  core +cpu +duration +operations +reads +writes"
                                                        + " +failed +data rate +IO rate +PE hit"
                                                        + " rate +hits:misses +refused"),
                        line ->
                                assertThat(line)
                                        .matches(
                                                "  0 +any +2.000000 s +3000 +2000 +1000 +3 +1.611"
                                                        + " GB/s +0.0015 MIOP/s +30.0 % +30:70"
                                                        + " +7"),
                        line ->
                                assertThat(line)
                                        .matches(
                                                "  1 +5 +1.000000 s +1000 +1000 +0 +1 +1.074 GB/s"
                                                        + " +0.001 MIOP/s +50.0 % +10:10 +2"),
                        line ->
                                assertThat(line)
                                        .matches(
                                                "  total +2.000000 s +4000 +3000 +1000 +4 +2.147"
                                                        + " GB/s +0.002 MIOP/s +33.3 % +40:80"
                                                        + " +9"),
                        line ->
                                assertThat(line)
                                        .isEqualTo(
                                                "target: payload bytes copied 0, message bytes"
                                                        + " copied 0"),
                        line ->
                                assertThat(line)
                                        .isEqualTo(
                                                "target: RDMA provider shm, path MTU 4096 bytes"),
                        line ->
                                assertThat(line)
                                        .isEqualTo(
                                                "target: payload bytes copied out of packets by the"
                                                        + " NIC 6442450944"));
        assertThat(StorageTable.lines(StorageFixture.session("initiator")))
                .noneMatch(line -> line.contains("RDMA"));
    }

    @Test
    void shouldNotSayOfAServiceWhatItDoesNotLookAt() {
        assertThat(StorageTable.lines(StorageFixture.session("zero-copy")))
                .anyMatch(line -> line.matches("  0 +any +2.000000 s +3000 +- +- +- +- +0.0015 .*"))
                .anyMatch(line -> line.matches("  total +2.000000 s +4000 +- +- +- +- +0.002 .*"));
    }

    @Test
    void shouldShowNoTotalOfOneCore() {
        SessionReport two = StorageFixture.session("target");
        SessionReport one =
                new SessionReport(two.role(), two.status(), "", two.workers().subList(0, 1), 0, 0);

        assertThat(StorageTable.lines(one)).noneMatch(line -> line.contains("total"));
    }

    @Test
    void shouldShowLatenciesOfEachCoreAndOfAllFromTheBeginAndFromTheDueTime() {
        List<String> lines = StorageTable.lines(StorageFixture.run(), false);

        assertThat(lines)
                .startsWith("phase reads: operations of 4096 bytes, 8 in flight on each core:")
                .anyMatch(line -> line.matches("  total +2.000000 s +4000 +4000 +0 +4 +2.147 .*"))
                .anyMatch(line -> line.matches("  latency +min +mean +p50 +p90 +p99 +p99.9 +max"))
                .anyMatch(line -> line.matches("  core 1 +101 ns +102 .* 106 ns +108 ns"))
                .anyMatch(line -> line.matches("  total +100 ns +101 .* 105 ns +107 ns"))
                .anyMatch(line -> line.matches("  since due +min .*"))
                .anyMatch(line -> line.matches("  total +200 ns +201 .* 205 ns +207 ns"));
        InitiatorReport unpaced =
                new InitiatorReport(
                        StorageFixture.session("initiator"),
                        List.of(StorageFixture.phase("reads", null)));
        assertThat(StorageTable.lines(unpaced, false))
                .noneMatch(line -> line.contains("since due"));
    }
}
