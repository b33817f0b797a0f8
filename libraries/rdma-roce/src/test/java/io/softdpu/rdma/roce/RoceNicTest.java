package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.roce.rc.ConnectionCounter;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Soak;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A live NIC: what its peers and its own programs may do to it. */
class RoceNicTest {
    private static final int MESSAGE_BYTES = 1000;
    private static final int ROUNDS = 1000;

    private static void exchange(Party near, RdmaConnection toFar, Party far) {
        assertThat(far.receive(MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
        assertThat(near.send(toFar, MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
        Party.drive(
                "send and receive",
                () -> !near.results.isEmpty() && !far.results.isEmpty(),
                near,
                far);
        assertThat(near.results.remove()).isEqualTo(Status.SUCCESS);
        assertThat(far.results.remove()).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldCountThePacketsOfAConnection(@TempDir Path folder) {
        try (Party near = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            RdmaConnection toNear = far.export();
            assertThat(toFar.counters()).as("no provider yet").isEmpty();
            Party.connect(near, toFar, far, toNear);
            exchange(near, toFar, far);

            assertThat(near.send(toFar, MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
            Party.drive(
                    "a refusal for want of a receive",
                    () -> toFar.counters().get("rnr_naks_received") > 0,
                    near,
                    far);
            assertThat(far.receive(MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
            Party.drive(
                    "send and receive",
                    () -> !near.results.isEmpty() && !far.results.isEmpty(),
                    near,
                    far);

            Map<String, Long> here = toFar.counters();
            Map<String, Long> there = toNear.counters();
            assertThat(here.keySet())
                    .containsExactlyElementsOf(there.keySet())
                    .startsWith("packets_sent", "bytes_sent")
                    .hasSize(ConnectionCounter.values().length);
            assertThat(here.get("packets_sent")).as("two, one of them twice").isGreaterThan(2);
            assertThat(here.get("bytes_sent")).isGreaterThan(3L * MESSAGE_BYTES);
            assertThat(here.get("retransmissions")).isPositive();
            assertThat(there)
                    .as("messages are no payload")
                    .containsEntry(RdmaConnection.NIC_PAYLOAD_BYTES_COPIED, 0L);
            assertThat(there.get("bytes_received")).isGreaterThan(3L * MESSAGE_BYTES);
            assertThat(there.get("rnr_naks_sent")).isPositive();
            assertThat(there.get("packets_sent")).as("acknowledgements").isPositive();
            assertThat(here.get("bad_icrc") + there.get("bad_icrc")).isZero();

            toFar.disconnect();
            Party.drive(
                    "the end",
                    () ->
                            toFar.state() == RdmaConnection.State.DISCONNECTED
                                    && toNear.state() == RdmaConnection.State.DISCONNECTED,
                    near,
                    far);
            assertThat(toFar.counters().get("packets_sent"))
                    .as("after the end")
                    .isGreaterThanOrEqualTo(here.get("packets_sent"));
        }
    }

    @Test
    void shouldCountForTheDeviceAlsoWhatBelongsToNoConnection(@TempDir Path folder)
            throws IOException {
        try (Party near = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU);
                DatagramSocket hostile =
                        new DatagramSocket(new InetSocketAddress("127.65.0.1", 0))) {
            RdmaConnection toFar = near.export();
            assertThat(near.deviceCounters()).as("no provider yet").isEmpty();
            RdmaConnection toNear = far.export();
            Party.connect(near, toFar, far, toNear);
            RoceDetails target = Party.details(toNear);
            InetAddress address = InetAddress.getByAddress(target.gid().addressBytes());
            long before = far.deviceCounters().get("nic_malformed");
            byte[] garbage = new byte[3];
            hostile.send(new DatagramPacket(garbage, garbage.length, address, target.gid().port()));
            exchange(near, toFar, far);

            Await.until(
                    "the malformed packet",
                    () -> far.deviceCounters().get("nic_malformed") > before);
            Map<String, Long> device = far.deviceCounters();
            assertThat(device.keySet())
                    .startsWith("packets_sent", "bytes_sent")
                    .contains("nic_received", "nic_not_sent", "cm_repeated")
                    .doesNotContain("impair_lost", "capture_written");
            assertThat(device.get("bytes_received"))
                    .isGreaterThanOrEqualTo(toNear.counters().get("bytes_received"));
            long packets = device.get("packets_sent");
            toFar.disconnect();
            Party.drive(
                    "the end",
                    () ->
                            toFar.state() == RdmaConnection.State.DISCONNECTED
                                    && toNear.state() == RdmaConnection.State.DISCONNECTED,
                    near,
                    far);
            assertThat(far.deviceCounters().get("packets_sent"))
                    .as("of a connection that has ended")
                    .isGreaterThanOrEqualTo(packets);
        }
    }

    @Test
    void shouldRefuseMemoryThatIsConfinedToAThread(@TempDir Path folder) {
        try (Arena confined = Arena.ofConfined();
                Party near = new Party(folder, Side.TARGET, confined.allocate(1 << 16));
                Party far = new Party(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            Party.connect(near, toFar, far, far.export());

            assertThat(near.send(toFar, MESSAGE_BYTES)).isEqualTo(Status.NOT_SUPPORTED);
            assertThat(near.receive(MESSAGE_BYTES)).isEqualTo(Status.NOT_SUPPORTED);
        }
    }

    @Test
    void shouldFailTheTaskWhoseMemoryWasFreedAndServeTheOthers(@TempDir Path folder) {
        Arena freed = Arena.ofShared();
        try (Party near = new Party(folder, Side.TARGET, freed.allocate(1 << 16));
                Party other = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU);
                Party alsoFar = new Party(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            Party.connect(near, toFar, far, far.export());
            RdmaConnection toOther = other.export();
            Party.connect(other, toOther, alsoFar, alsoFar.export());

            assertThat(near.send(toFar, MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
            freed.close();
            Party.drive("the end of the task", () -> !near.results.isEmpty(), near, far);

            assertThat(near.results.remove()).isEqualTo(Status.IO_FAILED);
            exchange(other, toOther, alsoFar);
        }
    }

    /** Once it is compiled; the engines' threads are tested by the contract. */
    @Test
    @Tag(Soak.FULL_TAG)
    void shouldAllocateNothingPerMessageOnItsThread(@TempDir Path folder) {
        try (Party near = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            Party.connect(near, toFar, far, far.export());
            long least = Long.MAX_VALUE;
            for (int measured = 0; measured < 50 && least >= ROUNDS; measured++) {
                long before = allocatedByNics();
                for (int round = 0; round < ROUNDS; round++) {
                    exchange(near, toFar, far);
                }
                least = Math.min(least, allocatedByNics() - before);
            }
            assertThat(least).as("bytes per %d messages", ROUNDS).isLessThan(ROUNDS);
        }
    }

    private static long allocatedByNics() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long bytes = 0;
        int nics = 0;
        for (ThreadInfo each : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (each != null && each.getThreadName().startsWith("softdpu-nic-")) {
                nics++;
                bytes += threads.getThreadAllocatedBytes(each.getThreadId());
            }
        }
        assertThat(nics).as("one per address").isEqualTo(2);
        return bytes;
    }

    @Test
    void shouldWakeBothSidesForEachMessage(@TempDir Path folder) throws Exception {
        int messages = Soak.count(200, 2_000, 20_000);
        CompletableFuture<byte[]> farBlob = new CompletableFuture<>();
        CompletableFuture<Void> done = new CompletableFuture<>();
        try (Party near = new Party(folder, Side.TARGET)) {
            RdmaConnection toFar = near.export();
            byte[] nearBlob = toFar.blob();
            Thread.ofPlatform()
                    .name("far")
                    .start(() -> {
                        try (Party far = new Party(folder, Side.DPU)) {
                            RdmaConnection toNear = far.export();
                            far.connect(toNear, nearBlob);
                            farBlob.complete(toNear.blob());
                            answer(far, toNear, messages);
                            done.complete(null);
                        } catch (Throwable e) {
                            farBlob.completeExceptionally(e);
                            done.completeExceptionally(e);
                        }
                    });
            near.connect(toFar, farBlob.get());
            near.sleepUntil("connection", () -> toFar.state() == RdmaConnection.State.CONNECTED);
            for (int i = 0; i < messages; i++) {
                assertThat(near.receive(64)).isEqualTo(Status.SUCCESS);
                assertThat(near.send(toFar, 64)).isEqualTo(Status.SUCCESS);
                near.sleepUntil("an answer", () -> near.results.size() == 2);
                assertThat(near.results.remove()).isEqualTo(Status.SUCCESS);
                assertThat(near.results.remove()).isEqualTo(Status.SUCCESS);
            }
            done.get();
        }
    }

    private static void answer(Party far, RdmaConnection toNear, int messages) {
        far.sleepUntil("connection", () -> toNear.state() == RdmaConnection.State.CONNECTED);
        for (int i = 0; i < messages; i++) {
            assertThat(far.receive(64)).isEqualTo(Status.SUCCESS);
            far.sleepUntil("a message", () -> far.results.size() == 1);
            assertThat(far.results.remove()).isEqualTo(Status.SUCCESS);
            assertThat(far.send(toNear, 64)).isEqualTo(Status.SUCCESS);
            far.sleepUntil("the end of the answer", () -> far.results.size() == 1);
            assertThat(far.results.remove()).isEqualTo(Status.SUCCESS);
        }
    }
}
