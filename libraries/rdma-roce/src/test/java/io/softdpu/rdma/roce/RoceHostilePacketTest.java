package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.roce.nic.NicFailures;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.testkit.LogCapture;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hostile packets to the port of a live NIC, whose connection carries on. */
@Tag(Soak.TAG)
class RoceHostilePacketTest {
    private static final int MEMORY_BYTES = 1 << 16;
    private static final int MOST_MESSAGE_BYTES = 3000;

    /** Packets per message: their bytes fit into the least buffer of a socket. */
    private static final int BURST = 100;

    private static final int RECORDED = 10;

    /** Counts of the NIC that some of the packets raise, those of connections among them. */
    private static final List<String> RAISED =
            List.of(
                    "nic_malformed",
                    "nic_too_long",
                    "nic_unknown_queue_pair",
                    "nic_foreign_source",
                    "nic_wrong_kind",
                    "nic_bad_icrc",
                    "nic_congestion_notification",
                    "nic_datagram",
                    "cm_queue_key",
                    "cm_malformed",
                    "cm_not_supported",
                    "cm_unknown",
                    "cm_refused",
                    "bad_icrc",
                    "foreign_source",
                    "duplicates",
                    "dropped_behind_gap",
                    "dropped_answers");

    @AfterEach
    void useTheDefaults() {
        RoceOptions.defaults().use();
    }

    @Test
    void shouldKeepItsConnectionWhateverItsPortReceives(@TempDir Path folder, SeededRandom random)
            throws IOException {
        Path capture = folder.resolve("connection.pcap");
        RoceOptions.defaults().withCapture(capture).use();
        MemorySegment nearMemory = Arena.ofAuto().allocate(MEMORY_BYTES);
        MemorySegment farMemory = Arena.ofAuto().allocate(MEMORY_BYTES);
        int packets = Soak.count(20_000, 100_000, 1_000_000);
        long start = System.nanoTime();
        try (LogCapture log = new LogCapture(RoceOptions.class.getPackageName());
                Party near = new Party(folder, Side.TARGET, nearMemory);
                Party far = new Party(folder, Side.DPU, farMemory)) {
            RdmaConnection toFar = near.export();
            RdmaConnection toNear = far.export();
            Party.connect(near, toFar, far, toNear);
            Exchange there = new Exchange(near, toFar, nearMemory, far, farMemory);
            Exchange back = new Exchange(far, toNear, farMemory, near, nearMemory);
            for (int i = 0; i < RECORDED; i++) {
                there.run(random, () -> {});
                back.run(random, () -> {});
            }
            RoceOptions.endCapture();
            RoceDetails from = Party.details(toFar);
            RoceDetails target = Party.details(toNear);
            Map<String, Long> before = far.deviceCounters();

            try (Attacker attacker =
                    new Attacker(
                            random,
                            Recording.read(
                                    capture, from.gid(), from.queuePair(), target.queuePair()),
                            from.gid(),
                            besideAll(from.gid()),
                            target.gid())) {
                for (int sent = 0; sent < packets; sent += BURST) {
                    Exchange each = sent / BURST % 2 == 0 ? there : back;
                    each.run(random, () -> attackBurst(attacker));
                }
            }

            there.run(random, () -> {});
            back.run(random, () -> {});
            Map<String, Long> after = far.deviceCounters();
            for (String raised : RAISED) {
                assertThat(after.get(raised)).as(raised).isGreaterThan(before.get(raised));
            }
            assertThat(toFar.state()).isEqualTo(RdmaConnection.State.CONNECTED);
            assertThat(toNear.state()).isEqualTo(RdmaConnection.State.CONNECTED);
            assertThat(NicFailures.ofRunning()).as("exceptions on the NICs' threads").isZero();
            assertThat(log.with("")).as("records of the provider").isEmpty();
            Soak.report(
                    "roce-hostile-packets",
                    random.seed(),
                    Duration.ofNanos(System.nanoTime() - start),
                    "packets="
                            + packets
                            + ", received="
                            + (after.get("nic_received") - before.get("nic_received"))
                            + ", badIcrc="
                            + (after.get("nic_bad_icrc") - before.get("nic_bad_icrc"))
                            + ", foreignSource="
                            + (after.get("nic_foreign_source") - before.get("nic_foreign_source")));
        }
    }

    /** The address of this test that no device has. */
    private static Gid besideAll(Gid one) {
        return new Gid(one.high(), one.low() | 3);
    }

    private static void attackBurst(Attacker attacker) {
        try {
            for (int i = 0; i < BURST; i++) {
                attacker.attack();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Messages of random content and size in one direction of a connection. */
    private record Exchange(
            Party from, RdmaConnection to, MemorySegment sent, Party at, MemorySegment received) {

        /** Moves a message, which is on its way while something is done. */
        void run(SeededRandom random, Runnable meanwhile) {
            int bytes = random.nextInt(1, MOST_MESSAGE_BYTES + 1);
            MemorySegment content = sent.asSlice(0, bytes);
            random.fill(content);
            assertThat(at.receive(bytes)).isEqualTo(Status.SUCCESS);
            assertThat(from.send(to, bytes)).isEqualTo(Status.SUCCESS);
            from.engine.progress();
            meanwhile.run();
            Party.drive(
                    "send and receive",
                    () -> !from.results.isEmpty() && !at.results.isEmpty(),
                    from,
                    at);
            assertThat(from.results.remove()).isEqualTo(Status.SUCCESS);
            assertThat(at.results.remove()).isEqualTo(Status.SUCCESS);
            assertThat(received.asSlice(0, bytes).mismatch(content))
                    .as("first byte that differs")
                    .isEqualTo(-1);
        }
    }
}
