package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.rdma.RdmaConnection;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections over a network that is as bad as the options say. */
class RoceImpairmentTest {
    private static final int MESSAGE_BYTES = 3000;
    private static final int MESSAGES = 300;

    /** So that packets are lost with others behind them. */
    private static final int AT_ONCE = 10;

    private static final int ROUNDS = 20;

    @AfterEach
    void useTheDefaults() {
        RoceOptions.defaults().use();
    }

    /** Moves some messages, all of which are on their way at a time. */
    private static void exchange(Party near, RdmaConnection toFar, Party far) {
        for (int i = 0; i < AT_ONCE; i++) {
            assertThat(far.receive(MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
            assertThat(near.send(toFar, MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
        }
        Party.drive(
                "sends and receives",
                () -> near.results.size() == AT_ONCE && far.results.size() == AT_ONCE,
                near,
                far);
        assertThat(near.results).containsOnly(Status.SUCCESS);
        assertThat(far.results).containsOnly(Status.SUCCESS);
        near.results.clear();
        far.results.clear();
    }

    @Test
    void shouldMoveAllMessagesOverABadNetwork(@TempDir Path folder) {
        RoceOptions.defaults()
                .withImpairment("loss=0.05,dup=0.05,reorder=0.05,delay=10us,corrupt=0.05,seed=7")
                .use();
        try (Party near = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            RdmaConnection toNear = far.export();
            Party.connect(near, toFar, far, toNear);
            for (int i = 0; i < MESSAGES; i += AT_ONCE) {
                exchange(near, toFar, far);
            }

            Map<String, Long> here = toFar.counters();
            Map<String, Long> there = toNear.counters();
            for (String raised : List.of("retransmissions", "sequence_naks_received")) {
                assertThat(here.get(raised)).as(raised).isPositive();
            }
            for (String raised :
                    List.of("duplicates", "dropped_behind_gap", "sequence_naks_sent", "bad_icrc")) {
                assertThat(there.get(raised)).as(raised).isPositive();
            }
            Map<String, Long> device = near.deviceCounters();
            assertThat(device.get("retransmissions"))
                    .isGreaterThanOrEqualTo(here.get("retransmissions"));
            for (String done : List.of("lost", "duplicated", "reordered", "delayed", "corrupted")) {
                assertThat(device.get("impair_" + done)).as(done).isPositive();
            }
            assertThat(device.get("impair_partitioned")).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"200us", "5ms"})
    void shouldSendDelayedPacketsOfProgramsThatSleep(String delay, @TempDir Path folder) {
        RoceOptions.defaults().withImpairment("delay=" + delay).use();
        try (Party near = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            Party.connect(near, toFar, far, far.export());
            for (int i = 0; i < ROUNDS; i++) {
                assertThat(far.receive(MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
                assertThat(near.send(toFar, MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
                near.engine.progress(); // the packets wait, and the program drives no more
                far.sleepUntil("a message", () -> !far.results.isEmpty());
                assertThat(far.results.remove()).isEqualTo(Status.SUCCESS);
                near.sleepUntil("its end", () -> !near.results.isEmpty());
                assertThat(near.results.remove()).isEqualTo(Status.SUCCESS);
            }
        }
    }
}
