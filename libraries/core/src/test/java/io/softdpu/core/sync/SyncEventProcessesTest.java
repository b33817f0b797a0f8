package io.softdpu.core.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.fabric.link.DoorbellBudget;
import io.softdpu.linux.CountedCalls;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.ProcessView;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Handles of one event in several processes. */
@StartsProcesses
class SyncEventProcessesTest extends SyncEventFixture {
    private static final Duration MEASURED = Duration.ofSeconds(5);
    private static final Duration STOPPED = Duration.ofSeconds(3);

    /** What a thread that sleeps takes in that time at most: 2 clock ticks of 10 ms. */
    private static final long MOST_CPU_NANOS = 20_000_000;

    /** It has nothing to do; a thread that polls each millisecond would have 5000. */
    private static final long MOST_WAKE_UPS = 10;

    private static final int MANY_JOINS = 500;

    private static final long MILLI = 1_000_000;

    private static final int HOSTILE_HANDLES = 30;
    private static final int ROUNDS = 5;

    /** More than a socket holds. */
    private static final int DOORBELLS = 400;

    /** Ten times what an import is expected to take at most. */
    private static final Duration IMPORT_LIMIT = Duration.ofSeconds(10);

    /** More than the bus thread makes to sleep until a deadline. */
    private static final long CALLS_PER_SLEEP = 8;

    /** More than it makes for a handle that joins beside the others, and leaves. */
    private static final long CALLS_PER_JOIN = 100 + 10 * HOSTILE_HANDLES;

    private int questions;

    private ChildProcess cpu(Processes processes, String mode) {
        return processes.start(
                JavaCommand.ofClass(SyncEventPeer.class)
                        .withJvmOptions("-D" + CountedCalls.PROPERTY + "=true")
                        .withArguments(machines.folder().toString(), mode));
    }

    private ChildProcess dpu(Processes processes, String mode, byte[] blob) {
        ChildProcess child =
                processes.start(
                        JavaCommand.ofClass(SyncEventPeer.class)
                                .withJvmOptions("-D" + CountedCalls.PROPERTY + "=true")
                                .withArguments(
                                        machines.folder().toString(),
                                        mode,
                                        HexFormat.of().formatHex(blob)));
        child.awaitLine("^joined");
        return child;
    }

    private static byte[] blobOf(ChildProcess cpu) {
        String line = cpu.awaitLine("^blob ");
        return HexFormat.of().parseHex(line.substring("blob ".length()));
    }

    private SyncEvent handleOf(ChildProcess cpu) {
        return closedLater(SyncEvent.createFromExport(blobOf(cpu), p0));
    }

    private static void tell(ChildProcess child, String command) {
        try {
            child.standardInput().write((command + "\n").getBytes(StandardCharsets.US_ASCII));
            child.standardInput().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The id of the thread that sleeps or is about to: an update from now on has to wake it. */
    private static String asleep(ChildProcess child, String command) {
        tell(child, command);
        return child.awaitLine("^asleep ").substring("asleep ".length());
    }

    @ParameterizedTest
    @ValueSource(strings = {"engine", "queue"})
    @Clause({"core-172", "core-196", "core-197"})
    void shouldWakeADpuHandleThatSleeps(String mode, Processes processes) {
        SyncEvent event = started();
        ChildProcess dpu = dpu(processes, mode, event.exportPci(pf0));
        asleep(dpu, "sleep 4");
        event.set(4);
        long begin = System.nanoTime();
        event.set(5);
        assertThat(dpu.awaitLine("^sleep ")).isEqualTo("sleep 5");
        System.out.printf("woken: mode=%s, nanos=%d%n", mode, System.nanoTime() - begin);
    }

    @ParameterizedTest
    @ValueSource(strings = {"engine", "queue"})
    void shouldWakeACpuHandleThatSleeps(String mode, Processes processes) {
        ChildProcess cpu = cpu(processes, mode);
        SyncEvent handle = handleOf(cpu).start();
        asleep(cpu, "sleep 0");
        assertThat(handle.add(1)).isZero();
        assertThat(cpu.awaitLine("^sleep ")).isEqualTo("sleep 1");
    }

    /** By the bus thread of the CPU handle's process, whose program never progresses. */
    @ParameterizedTest
    @ValueSource(strings = {"engine", "queue"})
    void shouldWakeADpuHandleForAnotherWhileTheCpuHandlesProgramComputes(
            String mode, Processes processes) {
        ChildProcess cpu = cpu(processes, "sync");
        byte[] blob = blobOf(cpu);
        ChildProcess sleeping = dpu(processes, mode, blob);
        asleep(sleeping, "sleep 0");
        tell(cpu, "compute");
        cpu.awaitLine("^computing");
        SyncEvent updating = closedLater(SyncEvent.createFromExport(blob, p0)).start();
        updating.add(1);
        assertThat(sleeping.awaitLine("^sleep ")).isEqualTo("sleep 1");
    }

    @Test
    void shouldMakeNoSystemCallForUpdatesWhileNobodySleeps(Processes processes) {
        ChildProcess cpu = cpu(processes, "sync");
        byte[] blob = blobOf(cpu);
        ChildProcess dpu = dpu(processes, "sync", blob);
        ChildProcess sleeping = dpu(processes, "engine", blob);
        tell(cpu, "adds 100000");
        assertThat(cpu.awaitLine("^adds ")).isEqualTo("adds {}");
        tell(dpu, "adds 100000");
        assertThat(dpu.awaitLine("^adds ")).isEqualTo("adds {}");
        asleep(sleeping, "sleep 200000");
        tell(cpu, "add1");
        assertThat(cpu.awaitLine("^add1 ")).isEqualTo("add1 {send=1}");
        assertThat(sleeping.awaitLine("^sleep ")).isEqualTo("sleep 200001");
    }

    /** One system call of the handle that updates, and none by a bus thread. */
    @Test
    void shouldWakeByOneSystemCallOfTheUpdatingProcess(Processes processes) {
        ChildProcess cpu = cpu(processes, "engine");
        ChildProcess dpu = dpu(processes, "sync", blobOf(cpu));
        asleep(cpu, "sleep 0");
        tell(dpu, "add1");
        assertThat(dpu.awaitLine("^add1 ")).isEqualTo("add1 {send=1}");
        assertThat(cpu.awaitLine("^sleep ")).isEqualTo("sleep 1");
    }

    /** A handle whose process requests a doorbell at all times gets one per update, at most. */
    @Test
    void shouldMakeAtMostOneSystemCallPerUpdate(Processes processes) throws Exception {
        ChildProcess cpu = cpu(processes, "sync");
        AtomicBoolean enough = new AtomicBoolean();
        try (HostileHandle hostile = HostileHandle.ofDpu(blobOf(cpu), p0)) {
            Thread requesting =
                    Thread.ofPlatform()
                            .start(() -> {
                                while (!enough.get()) {
                                    hostile.write(0, 1);
                                }
                            });
            tell(cpu, "adds 50000");
            String line = cpu.awaitLine("^adds ");
            enough.set(true);
            requesting.join();
            System.out.println("system calls beside a hostile process: " + line);
            assertThat(line).as("no call but send").matches("adds \\{(send=\\d+)?}");
            String sends = line.replaceAll("\\D", "");
            assertThat(sends.isEmpty() ? 0 : Long.parseLong(sends)).isLessThanOrEqualTo(50_000L);
        }
    }

    /**
     * Handles that request doorbells and have rung as often as their sockets hold, while the bus
     * thread of the CPU handle's process could not serve them, leave it time for others: they have
     * one limit together.
     */
    @Test
    void shouldJoinOthersBesideHandlesWithManyDoorbells(Processes processes) throws Exception {
        ChildProcess cpu = cpu(processes, "sync");
        byte[] blob = blobOf(cpu);
        List<HostileHandle> hostile = new ArrayList<>();
        long longest = 0;
        try {
            for (int i = 0; i < HOSTILE_HANDLES; i++) {
                hostile.add(HostileHandle.ofDpu(blob, p0));
            }
            for (int round = 1; round <= ROUNDS; round++) {
                long before = idleBusCalls(cpu);
                cpu.freeze();
                for (HostileHandle handle : hostile) {
                    handle.arm(-round); // the counter is 0
                    for (int i = 0; i < DOORBELLS; i++) {
                        handle.ring();
                    }
                }
                long begin = System.nanoTime();
                cpu.thaw();
                assertWithinBudget(busCalls(cpu) - before, begin);
                long asked = System.nanoTime();
                SyncEvent handle = SyncEvent.createFromExport(blob, p0, IMPORT_LIMIT);
                longest = Math.max(longest, System.nanoTime() - asked);
                handle.close();
                assertWithinBudget(busCalls(cpu) - before, begin);
            }
            System.out.printf("beside doorbells: longestImportNanos=%d%n", longest);
        } finally {
            hostile.forEach(HostileHandle::close);
        }
    }

    private static void assertWithinBudget(long calls, long beginNanos) {
        long millis = (System.nanoTime() - beginNanos) / MILLI;
        System.out.printf("beside doorbells: busCalls=%d, millis=%d%n", calls, millis);
        assertThat(calls)
                .isPositive()
                .isLessThanOrEqualTo(
                        (millis + 2) * (DoorbellBudget.CALLS_PER_INTERVAL + CALLS_PER_SLEEP)
                                + 3 * CALLS_PER_JOIN);
    }

    /** System calls of its bus thread once that has served all doorbells. */
    private long idleBusCalls(ChildProcess cpu) {
        long[] calls = {busCalls(cpu)};
        Await.until(
                "the bus thread is idle",
                () -> {
                    long before = calls[0];
                    calls[0] = busCalls(cpu);
                    return calls[0] - before <= CALLS_PER_JOIN;
                });
        return calls[0];
    }

    /** System calls of its bus thread so far. */
    private long busCalls(ChildProcess cpu) {
        questions++;
        tell(cpu, "bus " + questions);
        String answer = "bus " + questions + " ";
        return Long.parseLong(cpu.awaitLine("^" + answer).substring(answer.length()));
    }

    @Test
    void shouldUseNoProcessorWhileItSleeps(Processes processes) {
        SyncEvent event = started();
        byte[] blob = event.exportPci(pf0);
        ChildProcess onEngine = dpu(processes, "engine", blob);
        ChildProcess onQueue = dpu(processes, "queue", blob);
        Task engineThread = asleepInKernel(onEngine, "sleep 0");
        Task queueThread = asleepInKernel(onQueue, "sleep 0");
        Use ofEngine = Use.of(engineThread);
        Use ofQueue = Use.of(queueThread);
        assertThat(Await.holdsWithin(MEASURED, () -> !onEngine.isAlive() || !onQueue.isAlive()))
                .as("one has ended")
                .isFalse();
        for (Use use : List.of(ofEngine.until(engineThread), ofQueue.until(queueThread))) {
            System.out.printf("asleep: use=%s, seconds=%d%n", use, MEASURED.toSeconds());
            assertThat(use.cpuNanos()).isLessThanOrEqualTo(MOST_CPU_NANOS);
            assertThat(use.wakeUps()).isLessThanOrEqualTo(MOST_WAKE_UPS);
        }
        event.set(1);
        assertThat(onEngine.awaitLine("^sleep ")).isEqualTo("sleep 1");
        assertThat(onQueue.awaitLine("^sleep ")).isEqualTo("sleep 1");
    }

    /** Handles that join and leave without pause do not keep a program that sleeps awake. */
    @ParameterizedTest
    @ValueSource(strings = {"engine", "queue"})
    void shouldSleepBesideHandlesThatJoinAndLeaveWithoutPause(String mode, Processes processes) {
        ChildProcess cpu = cpu(processes, mode);
        byte[] blob = blobOf(cpu);
        SyncEvent.createFromExport(blob, p0).close(); // loads what is loaded once
        Task thread = asleepInKernel(cpu, "sleep 0");
        Use before = Use.of(thread);
        long begin = System.nanoTime();
        for (int i = 0; i < MANY_JOINS; i++) {
            SyncEvent.createFromExport(blob, p0).close();
        }
        Use use = before.until(thread);
        long intervals = (System.nanoTime() - begin) / (100 * MILLI) + 2;
        System.out.printf(
                "beside joins: mode=%s, joins=%d, intervals=%d, use=%s%n",
                mode, MANY_JOINS, intervals, use);
        // It is told once per interval, and hears of the end of a link that it listens to.
        assertThat(use.wakeUps()).isLessThanOrEqualTo(5 * intervals);
        SyncEvent handle = closedLater(SyncEvent.createFromExport(blob, p0)).start();
        handle.set(1);
        assertThat(cpu.awaitLine("^sleep ")).isEqualTo("sleep 1");
    }

    /** A thread of a process. */
    private record Task(Path proc) {
        boolean isAsleep() {
            String stat = ProcessView.text(proc.resolve("stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2) == 'S';
        }
    }

    /** Processor time and sleeps of a thread. */
    private record Use(long cpuNanos, long wakeUps) {
        static Use of(Task task) {
            String[] times = ProcessView.text(task.proc().resolve("schedstat")).split(" ");
            long sleeps =
                    ProcessView.text(task.proc().resolve("status"))
                            .lines()
                            .filter(line -> line.startsWith("voluntary_ctxt_switches:"))
                            .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                            .sum();
            return new Use(Long.parseLong(times[0]), sleeps);
        }

        Use until(Task later) {
            Use now = of(later);
            return new Use(now.cpuNanos - cpuNanos, now.wakeUps - wakeUps);
        }
    }

    /** The thread that waits, once it sleeps in the kernel. */
    private static Task asleepInKernel(ChildProcess child, String command) {
        Task task = new Task(Path.of("/proc/" + child.pid() + "/task/" + asleep(child, command)));
        Await.until("the thread sleeps", task::isAsleep);
        return task;
    }

    @ParameterizedTest
    @ValueSource(strings = {"engine", "queue"})
    @Clause("core-204")
    void shouldEndASleepingDpuHandleWhenTheEventIsDestroyed(String mode, Processes processes)
            throws Exception {
        SyncEvent event = started();
        ChildProcess dpu = dpu(processes, mode, event.exportPci(pf0));
        asleep(dpu, "sleep 0");
        event.stop();
        long begin = System.nanoTime();
        event.close();
        assertThat(dpu.awaitLine("^sleep ")).isEqualTo("sleep SHUTDOWN");
        System.out.printf("ended: mode=%s, nanos=%d%n", mode, System.nanoTime() - begin);
        dpu.standardInput().close();
        assertThat(dpu.awaitExit()).isZero();
    }

    @Test
    @Clause("core-204")
    void shouldEndADpuHandleWithAResetWhenTheProcessOfTheCpuHandleIsKilled(Processes processes)
            throws Exception {
        ChildProcess cpu = cpu(processes, "sync");
        byte[] blob = blobOf(cpu);
        ChildProcess sleeping = dpu(processes, "engine", blob);
        SyncEvent handle = closedLater(SyncEvent.createFromExport(blob, p0)).start();
        asleep(sleeping, "sleep 0");
        CompletableFuture<Void> waiting =
                CompletableFuture.runAsync(() -> handle.waitGreater(0, ALL));
        long begin = System.nanoTime();
        cpu.kill();
        assertThat(sleeping.awaitLine("^sleep ")).isEqualTo("sleep CONNECTION_RESET");
        try {
            waiting.get(Patience.SECONDS, TimeUnit.SECONDS);
            throw new AssertionError("wait has succeeded");
        } catch (ExecutionException e) {
            assertThat(((DpuException) e.getCause()).status()).isEqualTo(Status.CONNECTION_RESET);
        }
        System.out.printf("reset: nanos=%d%n", System.nanoTime() - begin);
        Thrown.with(Status.CONNECTION_RESET, () -> handle.set(1))
                .hasMessageContaining("process of the CPU handle has ended");
        Thrown.with(Status.NOT_FOUND, () -> SyncEvent.createFromExport(blob, p0));
        sleeping.standardInput().close();
        assertThat(sleeping.awaitExit()).isZero();
    }

    @Test
    void shouldLoseOnlyTheHandlesOfAProcessThatIsKilled(Processes processes) {
        SyncEvent event = started();
        byte[] blob = event.exportPci(pf0);
        ChildProcess killed = dpu(processes, "engine", blob);
        ChildProcess survivor = dpu(processes, "engine", blob);
        asleep(killed, "sleep 0");
        asleep(survivor, "sleep 0");
        killed.kill();
        killed.awaitExit();
        event.set(1);
        assertThat(survivor.awaitLine("^sleep ")).isEqualTo("sleep 1");
    }

    /**
     * Updates do not block while a process with a handle is stopped, and it misses none. An update
     * that waited for the process would not return, since this thread lets it continue.
     */
    @ParameterizedTest
    @ValueSource(strings = {"engine", "queue"})
    @Tag(Soak.TAG)
    void shouldContinueAfterAStopOfAProcess(String mode, SeededRandom random, Processes processes)
            throws Exception {
        long started = System.nanoTime();
        SyncEvent event = started();
        byte[] blob = event.exportPci(pf0);
        ChildProcess stopped = dpu(processes, mode, blob);
        SyncEvent other = imported(event).start();
        int stops = Soak.count(1, 1, 10);
        long longest = 0;
        long updates = 0;
        for (int i = 0; i < stops; i++) {
            asleep(stopped, "sleep " + (event.get() + 1_000_000));
            stopped.freeze();
            long end = System.nanoTime() + durationOf(i, random);
            do {
                long begin = System.nanoTime();
                event.add(1_000_000);
                other.add(1_000_000);
                longest = Math.max(longest, System.nanoTime() - begin);
                updates++;
            } while (System.nanoTime() < end);
            stopped.thaw();
            assertThat(stopped.awaitLine("^sleep ")).matches("sleep [1-9]\\d*");
        }
        Soak.report(
                "sync-event-stops-" + mode,
                random.seed(),
                Duration.ofNanos(System.nanoTime() - started),
                "stops=%d, updates=%d, longestNanos=%d".formatted(stops, updates, longest));
    }

    /** The first stop takes the whole time. */
    private static long durationOf(int stop, SeededRandom random) {
        return stop == 0 ? STOPPED.toNanos() : (long) (random.nextDouble() * STOPPED.toNanos());
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpu", "dpu"})
    void shouldStartAgainAfterAStartThatHasFailed(String handle, Processes processes)
            throws Exception {
        ChildProcess child =
                processes.start(
                        JavaCommand.ofClass(FailedStart.class)
                                .withJvmOptions("-Xmx64m", "-XX:+UseSerialGC")
                                .withArguments(machines.folder().toString(), handle));
        assertThat(child.awaitLine("^failed ")).isEqualTo("failed true, started false");
        assertThat(child.awaitLine("^value ")).isEqualTo("value 7");
        child.awaitLine("^closed");
        assertThat(child.awaitExit()).isZero();
    }

    /** The process of the CPU handle relays between DPU handles once it continues. */
    @Test
    @Tag(Soak.TAG)
    void shouldRelayAfterAStopOfTheProcessOfTheCpuHandle(SeededRandom random, Processes processes) {
        long started = System.nanoTime();
        ChildProcess cpu = cpu(processes, "sync");
        byte[] blob = blobOf(cpu);
        ChildProcess sleeping = dpu(processes, "engine", blob);
        SyncEvent updating = closedLater(SyncEvent.createFromExport(blob, p0)).start();
        int stops = Soak.count(1, 1, 100);
        for (int i = 0; i < stops; i++) {
            asleep(sleeping, "sleep " + updating.get());
            cpu.freeze();
            int updates = 1 + random.nextInt(100_000);
            for (int j = 0; j < updates; j++) {
                updating.add(1);
            }
            cpu.thaw();
            assertThat(sleeping.awaitLine("^sleep ")).matches("sleep [1-9]\\d*");
        }
        Soak.report(
                "sync-event-stops-of-cpu",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - started),
                "stops=" + stops);
    }
}
