package io.softdpu.perf.storage;

import io.softdpu.core.Status;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.storage.RdmaCounters;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.WorkerReport;
import io.softdpu.storage.initiator.CoreReport;
import io.softdpu.storage.initiator.InitiatorReport;
import io.softdpu.storage.initiator.LatencySummary;
import io.softdpu.storage.initiator.PhaseReport;
import io.softdpu.storage.wire.IoType;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reports of a session with two cores, and of its paced phase. */
public final class StorageFixture {
    private static final long GIB = 1L << 30;

    private StorageFixture() {}

    /** 3000 operations of core 0 in 2 s, and 1000 of core 1 in 1 s. */
    public static SessionReport session(String role) {
        String provider = role.equals("initiator") ? "" : "shm";
        return new SessionReport(
                role,
                Status.SUCCESS,
                "",
                List.of(
                        new WorkerReport(
                                0,
                                "any",
                                3000,
                                2000,
                                1000,
                                3,
                                3 * GIB,
                                7,
                                30,
                                70,
                                0,
                                0,
                                0,
                                Duration.ofSeconds(2),
                                provider,
                                provider.isEmpty() ? 0 : 4096,
                                counters(role)),
                        new WorkerReport(
                                1,
                                "5",
                                1000,
                                1000,
                                0,
                                1,
                                GIB,
                                2,
                                10,
                                10,
                                0,
                                0,
                                0,
                                Duration.ofSeconds(1),
                                provider,
                                provider.isEmpty() ? 0 : 4096,
                                counters(role))),
                0,
                0);
    }

    /** Of one core; both are at the same device. */
    private static RdmaCounters counters(String role) {
        return role.equals("initiator")
                ? RdmaCounters.NONE
                : new RdmaCounters(
                        new LinkedHashMap<>(
                                Map.of(
                                        "retransmissions",
                                        3L,
                                        RdmaConnection.NIC_PAYLOAD_BYTES_COPIED,
                                        3 * GIB)),
                        new LinkedHashMap<>(Map.of("nic_malformed", 4L)));
    }

    /** A phase of reads by both. */
    public static InitiatorReport run() {
        return new InitiatorReport(session("initiator"), List.of(phase("reads", latency(200))));
    }

    static PhaseReport phase(String name, LatencySummary sinceDue) {
        return new PhaseReport(
                name,
                true,
                IoType.READ,
                4096,
                8,
                4000,
                4,
                4 * GIB,
                Duration.ofSeconds(2),
                latency(100),
                sinceDue,
                List.of(core(0, 3000, sinceDue), core(1, 1000, sinceDue)),
                0,
                "",
                "");
    }

    private static CoreReport core(int index, long operations, LatencySummary sinceDue) {
        return new CoreReport(
                index,
                "any",
                operations,
                index,
                operations * 1024,
                5,
                30,
                70,
                Duration.ofSeconds(2),
                latency(100 + index),
                sinceDue);
    }

    private static LatencySummary latency(long base) {
        return new LatencySummary(
                1, base, base + 7, base + 1, base + 2, base + 3, base + 4, base + 5);
    }
}
