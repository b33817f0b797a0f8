package io.softdpu.core.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.core.sync.spi.RemoteEvents;
import io.softdpu.core.sync.wire.HandlePage;
import io.softdpu.fabric.Bus;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A process with a DPU handle or a remote event that writes anything into what it shares, and rings
 * at will.
 */
class HostileHandleTest extends SyncEventFixture {
    private static final int MUTATIONS_PER_ROUND = 20;
    private static final int SOMETHING = 1;

    private static final Map<String, Long> WORDS =
            new TreeMap<>(
                    Map.of(
                            "armed", 0L, "seen", 8L, "wanted", 128L, "relayed", 256L, "ended",
                            384L));

    @Tag(Soak.TAG)
    @Test
    void shouldWakeAllOthersWhateverItWritesAndRings(SeededRandom random) throws Exception {
        int wanted = Soak.count(20_000, 20_000, 1_000_000);
        SyncEvent event = configured();
        SyncEventContext cpu = event.asContext();
        cpu.start();
        SyncEventContext dpu = imported(event).asContext();
        dpu.start();
        SyncEvent updating = imported(event).start();
        byte[] blob = event.exportPci(pf0);
        Map<String, Integer> writes = new TreeMap<>();
        long begin = System.nanoTime();
        int mutations = 0;
        int rounds = 0;
        try (HostileHandle hostile = HostileHandle.ofDpu(blob, p0)) {
            while (mutations < wanted) {
                hostile.setCounter(random.nextLong());
                writes.merge("counter", 1, Integer::sum);
                updating.set(0);
                SplittableRandom ofOther = new SplittableRandom(random.nextLong());
                CompletableFuture<Map<String, Integer>> beside =
                        CompletableFuture.supplyAsync(() -> mutated(hostile, ofOther));
                QueueWaiter onCpu = QueueWaiter.sleep(cpu, 0); // while the other thread writes
                QueueWaiter onDpu = QueueWaiter.sleep(dpu, 0);
                add(mutated(hostile, new SplittableRandom(random.nextLong())), writes);
                mutations += 2 * MUTATIONS_PER_ROUND + 1;
                long value = 1 + rounds % 1000;
                if (rounds % 2 == 0) {
                    updating.set(value);
                } else {
                    Objects.requireNonNull(event.handle()).newAccess().set(value);
                }
                assertThat(onCpu.value()).isEqualTo(value);
                assertThat(onDpu.value()).isEqualTo(value);
                add(beside.get(Patience.SECONDS, TimeUnit.SECONDS), writes);
                rounds++;
            }
        }
        assertThat(writes).containsKeys(WORDS.keySet().toArray(String[]::new));
        StringBuilder findings =
                new StringBuilder(Text.format("mutations=%d, rounds=%d", mutations, rounds));
        writes.forEach((word, count) -> findings.append(", written/" + word + "=" + count));
        Soak.report(
                "hostile-sync-event",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                findings.toString());
    }

    /** The same by a process that has joined for RDMA tasks, beside an honest one. */
    @Test
    void shouldWakeTheOwnerWhateverAPeerWritesAndRings(SeededRandom random) throws Exception {
        Device t0 = machines.device(Side.TARGET, "t0");
        SyncEvent event =
                closedLater(
                        SyncEvent.create(p0)
                                .addPublisherLocation(SyncEventLocation.REMOTE)
                                .addSubscriberLocation(SyncEventLocation.CPU));
        SyncEventContext owner = event.asContext();
        owner.start();
        byte[] blob = event.exportRdma(p0);
        RemoteSyncEvent updating = machines.add(RemoteSyncEvent.createFromExport(blob, t0));
        Map<String, Integer> writes = new TreeMap<>();
        try (HostileHandle hostile = HostileHandle.ofPeer(blob, t0)) {
            for (int round = 0; round < 200; round++) {
                hostile.setCounter(random.nextLong());
                update(updating, 0);
                QueueWaiter waiter = QueueWaiter.sleep(owner, 0);
                add(mutated(hostile, new SplittableRandom(random.nextLong())), writes);
                long value = 1 + round;
                update(updating, value);
                assertThat(waiter.value()).isEqualTo(value);
            }
        }
        assertThat(writes).containsKeys(WORDS.keySet().toArray(String[]::new));
    }

    /** As a task of an RDMA instance does that sets the counter. */
    private static void update(RemoteSyncEvent event, long value) {
        assertThat(RemoteEvents.mark(event, event.device())).isNull();
        RemoteMemory counter = RemoteEvents.counterOf(event);
        Objects.requireNonNull(counter.memory()).set(ValueLayout.JAVA_LONG, 0, value);
        counter.changed();
        RemoteEvents.clear(event);
    }

    private static void add(Map<String, Integer> more, Map<String, Integer> writes) {
        more.forEach((word, count) -> writes.merge(word, count, Integer::sum));
    }

    /** Mutates some words; how often each. */
    private static Map<String, Integer> mutated(HostileHandle hostile, SplittableRandom random) {
        Map<String, Integer> writes = new TreeMap<>();
        for (int i = 0; i < MUTATIONS_PER_ROUND; i++) {
            mutate(hostile, random, writes);
        }
        return writes;
    }

    private static void mutate(
            HostileHandle hostile, SplittableRandom random, Map<String, Integer> writes) {
        int choice = random.nextInt(8);
        if (choice == 0) {
            hostile.ring();
            writes.merge("doorbell", 1, Integer::sum);
            return;
        }
        int value = random.nextBoolean() ? random.nextInt(3) : random.nextInt();
        if (choice == 1) {
            hostile.write(random.nextInt((int) HandlePage.BYTES / 4) * 4L, value);
            writes.merge("anywhere", 1, Integer::sum);
            return;
        }
        String word =
                WORDS.keySet().stream()
                        .skip(random.nextInt(WORDS.size()))
                        .findFirst()
                        .orElseThrow();
        hostile.write(WORDS.get(word), value);
        writes.merge(word, 1, Integer::sum);
    }

    @Test
    void shouldKeepNothingOfItOnceTheEventIsClosedAlthoughItDoesNotHangUp() {
        Bus bus = HandleImport.busOf(pf0);
        SyncEvent event = started();
        try (HostileHandle hostile = HostileHandle.ofDpu(event.exportPci(pf0), p0);
                HostileHandle second = HostileHandle.ofDpu(event.exportPci(pf0), p0)) {
            assertThat(bus.mappedBytesOfPeers()).as("pages of both").isPositive();
            event.stop();
            event.close();
            Await.until("page is unmapped", () -> bus.mappedBytesOfPeers() == 0);
            hostile.write(WORDS.get("armed"), SOMETHING);
            hostile.ring();
            second.ring();
            assertThat(hostile.isEnded()).isTrue();
            assertThat(second.isEnded()).isTrue();
        }
    }

    // ---- memory of the program ----

    @Test
    void shouldHoldMemoryOfTheProgramUntilItHangsUpWhateverElseItDoes() {
        SharedMemory memory = machines.add(SharedMemory.allocate(8));
        SyncEvent event = configured().setMemory(memory).start();
        byte[] blob = event.exportPci(pf0);
        SyncEvent other = started();
        try (HostileHandle early = HostileHandle.ofDpu(blob, p0);
                HostileHandle late = HostileHandle.ofDpu(blob, p0)) {
            early.shutDown();
            imported(other); // its bus thread has seen that
            event.stop();
            event.close();
            late.shutDown();
            imported(other);
            SyncEvent next = configured().setMemory(memory);
            Thrown.with(Status.IN_USE, next::start).hasMessageContaining("leases=2");
            late.close();
            Await.until("one is left", () -> holders(next) == 1);
            early.close();
            Await.until("none is left", () -> holders(next) == 0);
            assertThat(next.get()).isZero();
        }
    }

    /** A machine that is closed does not learn when its peers hang up. */
    @Test
    void shouldHoldMemoryOfTheProgramBeyondTheEndOfTheMachine() {
        SharedMemory memory = machines.add(SharedMemory.allocate(8));
        Machine machine = machines.open(Side.HOST);
        Device device = machine.findDevice("pf0").open();
        SyncEvent event =
                SyncEvent.create(device)
                        .addPublisherLocation(SyncEventLocation.CPU)
                        .addSubscriberLocation(SyncEventLocation.DPU)
                        .setMemory(memory)
                        .start();
        try (HostileHandle hostile = HostileHandle.ofDpu(event.exportPci(device), p0)) {
            event.stop();
            event.close();
            device.close();
            machine.close();
            SyncEvent next = configured().setMemory(memory);
            Thrown.with(Status.IN_USE, next::start).hasMessageContaining("leases=1");
            hostile.setCounter(1);
        }
    }

    @Test
    void shouldKeepItsPlaceWhileItHoldsMemoryOfTheProgram() {
        SharedMemory memory = machines.add(SharedMemory.allocate(8));
        SyncEvent event = configured().setMemory(memory).start();
        byte[] blob = event.exportPci(pf0);
        int limit = SyncEventCapabilities.of(pf0.info()).maxDpuHandles();
        List<HostileHandle> joined = new ArrayList<>();
        for (int i = 0; i < limit; i++) {
            HostileHandle handle = HostileHandle.ofDpu(blob, p0);
            handle.shutDown();
            joined.add(handle);
        }
        Thrown.with(Status.FULL, () -> SyncEvent.createFromExport(blob, p0))
                .hasMessageContaining("handles=" + limit);
        joined.forEach(HostileHandle::close);
        Await.until("its place is free", () -> isJoined(blob));
    }

    private boolean isJoined(byte[] blob) {
        try {
            SyncEvent.createFromExport(blob, p0).close();
            return true;
        } catch (DpuException e) {
            assertThat(e.status()).isEqualTo(Status.FULL);
            return false;
        }
    }

    /** How many hold the memory; none once the event has it. */
    private static int holders(SyncEvent event) {
        try {
            event.start();
            return 0;
        } catch (DpuException e) {
            assertThat(e.status()).isEqualTo(Status.IN_USE);
            return Integer.parseInt(e.getMessage().replaceAll(".*leases=(\\d+).*", "$1"));
        }
    }

    // ---- doorbells ----

    @Test
    void shouldNotWakeAnEngineWhoseWaitsHaveEnded() {
        ProgressEngine engine = machines.add(ProgressEngine.create());
        SyncEvent event = configured();
        SyncEventContext context =
                event.asContext().setWaitGreaterTasks(1, task -> task.free(), task -> task.free());
        engine.connect(context);
        context.start();
        try (HostileHandle hostile = HostileHandle.ofDpu(event.exportPci(pf0), p0)) {
            for (int round = 1; round <= 2; round++) {
                hostile.setCounter(0);
                context.allocateWaitGreater(0, ALL).submit();
                do { // a doorbell from before may be pending
                    engine.clearNotification();
                    assertThat(engine.progress()).isFalse();
                    engine.requestNotification();
                } while (engine.awaitNotification(Duration.ZERO));
                hostile.setCounter(1);
                hostile.ring();
                assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
                engine.clearNotification();
                assertThat(engine.progress()).isTrue();
                engine.requestNotification();
                hostile.ring();
                assertThat(engine.awaitNotification(Duration.ZERO)).isFalse();
                engine.clearNotification();
            }
        }
    }

    @Test
    void shouldNotWakeAWorkQueueWhoseWaitsHaveEnded() {
        SyncEvent event = configured();
        SyncEventContext context = event.asContext();
        context.start();
        JobEvent retrieved = JobEvent.create();
        try (HostileHandle hostile = HostileHandle.ofDpu(event.exportPci(pf0), p0);
                WorkQueue queue = WorkQueue.create(1).setEventDriven(true)) {
            queue.add(context);
            for (int round = 1; round <= 2; round++) {
                hostile.setCounter(0);
                queue.submit(context.createWaitGreaterJob(0, ALL));
                do { // a doorbell from before may be pending
                    queue.clearEvent();
                    assertThat(queue.progressRetrieve(retrieved)).isEqualTo(Status.AGAIN);
                    queue.armEvent();
                } while (queue.awaitEvent(Duration.ZERO));
                hostile.setCounter(1);
                hostile.ring();
                assertThat(queue.awaitEvent(Patience.LIMIT)).isTrue();
                queue.clearEvent();
                assertThat(queue.progressRetrieve(retrieved)).isEqualTo(Status.SUCCESS);
                queue.armEvent();
                hostile.ring();
                assertThat(queue.awaitEvent(Duration.ZERO)).isFalse();
                queue.clearEvent();
            }
        }
    }
}
