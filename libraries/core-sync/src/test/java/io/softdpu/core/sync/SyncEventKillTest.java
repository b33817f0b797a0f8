package io.softdpu.core.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Smoke;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Additions of several processes, and processes that are killed while they use an event. */
@StartsProcesses
class SyncEventKillTest extends SyncEventFixture {
    private static final long MAX_LIFE_NANOS = 20_000_000;

    @Tag(Soak.TAG)
    @Test
    @Clause("core-190")
    void shouldLoseNoAdditionAndNoWakeUp(SeededRandom random, Processes processes)
            throws Exception {
        int additions = Soak.count(200_000, 200_000, 10_000_000);
        long sum = 4L * additions;
        long begin = System.nanoTime();
        SyncEvent event = configured();
        SyncEventContext context = event.asContext();
        context.start();
        ChildProcess dpu =
                processes.start(
                        JavaCommand.ofClass(SyncEventAdders.class)
                                .withArguments(
                                        machines.folder().toString(),
                                        HexFormat.of().formatHex(event.exportPci(pf0)),
                                        Integer.toString(additions),
                                        Long.toString(sum)));
        CompletableFuture<Integer> sleeps =
                CompletableFuture.supplyAsync(() -> SyncEventAdders.untilSum(context, sum));
        dpu.awaitLine("^adding");
        JobEvent retrieved = JobEvent.create();
        try (WorkQueue queue = WorkQueue.create(1)) {
            queue.add(context);
            SyncEventAddJob add = context.createAddJob(1);
            for (int done = 0; done < additions; done++) {
                queue.submit(add);
                queue.progressRetrieve(retrieved);
            }
        }
        String slept = dpu.awaitLine("^sleeps ");
        assertThat(sleeps.get(Patience.SECONDS, TimeUnit.SECONDS)).isPositive();
        assertThat(Objects.requireNonNull(event.handle()).get()).isEqualTo(sum);
        assertThat(dpu.awaitExit()).isZero();
        Soak.report(
                "sync-event-adds",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format(
                        "additions=%d, value=%d, sleepsOnCpu=%d, dpu=%s",
                        4L * additions, sum, sleeps.get(), slept.replace(' ', ':')));
    }

    /**
     * It may be killed between its update and its doorbell: its end wakes those who wait. No thread
     * of the CPU handle's process sleeps, which would hear of that end by itself.
     */
    @Test
    void shouldWakeADpuHandleForOneThatUpdatesAndEndsWithoutADoorbell() {
        SyncEvent event = started();
        SyncEventContext dpu = imported(event).asContext();
        dpu.start();
        QueueWaiter waiter;
        try (HostileHandle killed = HostileHandle.ofDpu(event.exportPci(pf0), p0)) {
            waiter = QueueWaiter.sleep(dpu, 6);
            Await.until("the request of the DPU handle is served", killed::isWanted);
            killed.setCounter(7);
        }
        assertThat(waiter.value()).isEqualTo(7);
    }

    @Test
    void shouldWakeTheCpuHandleForOneThatUpdatesAndEndsWithoutADoorbell() {
        SyncEvent event = configured();
        SyncEventContext cpu = event.asContext();
        cpu.start();
        QueueWaiter waiter;
        try (HostileHandle killed = HostileHandle.ofDpu(event.exportPci(pf0), p0)) {
            waiter = QueueWaiter.sleep(cpu, 6);
            killed.setCounter(7);
        }
        assertThat(waiter.value()).isEqualTo(7);
    }

    @Smoke
    @Tag(Soak.TAG)
    @Test
    void shouldServeTheSurvivorsOfProcessesThatAreKilledAnywhere(
            SeededRandom random, Processes processes) {
        int kills = Soak.count(2, 4, 100);
        int killedAsleep = 0;
        long begin = System.nanoTime();
        SyncEvent event = configured();
        SyncEventContext cpu = event.asContext();
        cpu.start();
        SyncEventContext dpu = imported(event).asContext();
        dpu.start();
        SyncEvent updating = imported(event).start();
        byte[] blob = event.exportPci(pf0);
        for (int i = 0; i < kills; i++) {
            PeerProcess killed = new PeerProcess(processes);
            killed.openDpu(machines.folder(), "engine", blob);
            killed.tell("churn " + i);
            killed.awaitLine("churning");
            LockSupport.parkNanos(random.nextInt((int) MAX_LIFE_NANOS)); // a random point of it
            long high = 1L << 40;
            boolean asleep = i % 2 == 1;
            if (!asleep) {
                killed.kill();
            }
            QueueWaiter onCpu = QueueWaiter.sleep(cpu, high);
            QueueWaiter onDpu = QueueWaiter.sleep(dpu, high);
            if (asleep) { // stopped at that point, so that its updates wake no waiter
                killed.process().freeze();
                Await.until("the survivors sleep", () -> sleeps(cpu, onCpu) && sleeps(dpu, onDpu));
                killedAsleep++;
                killed.kill();
            }
            updating.set(high + 1);
            assertThat(onCpu.value()).isEqualTo(high + 1);
            assertThat(onDpu.value()).isEqualTo(high + 1);
            updating.set(0);
        }
        Soak.report(
                "sync-event-kills",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format("kills=%d, survivorsAsleep=%d", kills, killedAsleep));
    }

    /** Whether the waiter has requested to be woken and sleeps. */
    private static boolean sleeps(SyncEventContext context, QueueWaiter waiter) {
        return Objects.requireNonNull(context.event().handle()).sleepers.anyArmed()
                && waiter.isAsleep();
    }
}
