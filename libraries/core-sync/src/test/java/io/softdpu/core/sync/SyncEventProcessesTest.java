package io.softdpu.core.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.fabric.link.DoorbellBudget;
import io.softdpu.linux.text.Text;
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
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Handles of one event in several processes. */
@StartsProcesses
class SyncEventProcessesTest extends SyncEventFixture {
    /** At most three handles of other processes are used at a time. */
    private static final int PROCESSES = 3;

    private static final Deque<PeerProcess> IDLE = new ArrayDeque<>();

    /** Starts one where none is idle; ends all after the last test of this class. */
    private static Processes shared;

    private static final Duration MEASURED =
            Soak.duration(Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofSeconds(5));
    private static final Duration STOPPED =
            Soak.duration(Duration.ofMillis(200), Duration.ofMillis(200), Duration.ofSeconds(3));

    /** What a thread that sleeps takes at most, whatever the time. */
    private static final long MOST_CPU_NANOS = 20_000_000;

    /** What it takes in a second besides. */
    private static final long MOST_CPU_NANOS_PER_SECOND = 4_000_000;

    /** What a thread that has begun to sleep may still do. */
    private static final long MOST_WAKE_UPS = 10;

    /** It has nothing to do; a thread that polls each millisecond would have 1000 in a second. */
    private static final long MOST_WAKE_UPS_PER_SECOND = 2;

    private static final int MANY_JOINS = Soak.count(150, 150, 500);

    private static final long MILLI = 1_000_000;

    private static final int HOSTILE_HANDLES = 30;
    private static final int ROUNDS = Soak.count(2, 2, 5);

    /** More than a socket holds. */
    private static final int DOORBELLS = 400;

    /** More than the bus thread makes to sleep until a deadline. */
    private static final long CALLS_PER_SLEEP = 8;

    /** More than it makes for a handle that joins beside the others, and leaves. */
    private static final long CALLS_PER_JOIN = 100 + 10 * HOSTILE_HANDLES;

    /** Updates of which one should find a process asleep. */
    private static final int MOST_ATTEMPTS = 10;

    @BeforeAll
    static void startProcesses(Processes processes) {
        shared = processes;
        for (int i = 0; i < PROCESSES; i++) {
            IDLE.push(new PeerProcess(processes));
        }
    }

    @AfterAll
    static void forgetProcesses() {
        IDLE.clear();
    }

    /** One of the processes, until the end of the test. */
    private PeerProcess peer() {
        PeerProcess peer = IDLE.isEmpty() ? new PeerProcess(shared) : IDLE.pop();
        machines.add(() -> giveBack(peer));
        return peer;
    }

    /** Kills one that has not closed its handle: another test cannot use it. */
    private static void giveBack(PeerProcess peer) {
        boolean closed = false;
        try {
            closed = peer.close();
            assertThat(closed).as("its last command was answered").isTrue();
        } finally {
            if (closed) {
                IDLE.push(peer);
            } else {
                peer.kill();
            }
        }
    }

    private PeerProcess dpu(String mode, byte[] blob) {
        PeerProcess peer = peer();
        peer.openDpu(machines.folder(), mode, blob);
        return peer;
    }

    @ParameterizedTest
    @ValueSource(strings = {"engine", "queue"})
    @Clause({"core-172", "core-196", "core-197"})
    void shouldWakeADpuHandleThatSleeps(String mode) {
        SyncEvent event = started();
        PeerProcess dpu = dpu(mode, event.exportPci(pf0));
        dpu.asleep("sleep 4");
        event.set(4);
        long begin = System.nanoTime();
        event.set(5);
        assertThat(dpu.answer()).isEqualTo("5");
        System.out.printf(
                Locale.ROOT, "woken: mode=%s, nanos=%d%n", mode, System.nanoTime() - begin);
    }

    @ParameterizedTest
    @ValueSource(strings = {"engine", "queue"})
    void shouldWakeACpuHandleThatSleeps(String mode) {
        PeerProcess cpu = peer();
        byte[] blob = cpu.openCpu(machines.folder(), mode);
        SyncEvent handle = closedLater(SyncEvent.createFromExport(blob, p0)).start();
        cpu.asleep("sleep 0");
        assertThat(handle.add(1)).isZero();
        assertThat(cpu.answer()).isEqualTo("1");
    }

    /** By the bus thread of the CPU handle's process, whose program never progresses. */
    @ParameterizedTest
    @ValueSource(strings = {"engine", "queue"})
    void shouldWakeADpuHandleForAnotherWhileTheCpuHandlesProgramComputes(String mode) {
        PeerProcess cpu = peer();
        byte[] blob = cpu.openCpu(machines.folder(), "sync");
        PeerProcess sleeping = dpu(mode, blob);
        sleeping.asleep("sleep 0");
        cpu.tell("compute");
        cpu.awaitLine("computing");
        SyncEvent updating = closedLater(SyncEvent.createFromExport(blob, p0)).start();
        updating.add(1);
        assertThat(sleeping.answer()).isEqualTo("1");
        cpu.tell("get"); // ends the computing
        assertThat(cpu.answer()).isEqualTo("1");
    }

    @Test
    void shouldMakeNoSystemCallForUpdatesWhileNobodySleeps() {
        PeerProcess cpu = peer();
        byte[] blob = cpu.openCpu(machines.folder(), "sync");
        PeerProcess dpu = dpu("sync", blob);
        PeerProcess sleeping = dpu("engine", blob);
        cpu.tell("adds 100000");
        assertThat(cpu.answer()).isEqualTo("{}");
        dpu.tell("adds 100000");
        assertThat(dpu.answer()).isEqualTo("{}");
        assertWakesByOneSystemCall(cpu, sleeping, 200_000);
    }

    /**
     * An update wakes a process that sleeps, and makes a system call for that. The process may be
     * awake at the moment, for another reason: then it needs none, and the next update is tried.
     */
    private static void assertWakesByOneSystemCall(
            PeerProcess updating, PeerProcess sleeping, long value) {
        String calls = "{}";
        for (long now = value; calls.equals("{}") && now < value + MOST_ATTEMPTS; now++) {
            sleeping.asleep("sleep " + now);
            updating.tell("add1");
            calls = updating.answer();
            assertThat(sleeping.answer()).isEqualTo(Long.toString(now + 1));
        }
        assertThat(calls).isEqualTo("{send=1}");
    }

    /** One system call of the handle that updates, and none by a bus thread. */
    @Test
    void shouldWakeByOneSystemCallOfTheUpdatingProcess() {
        PeerProcess cpu = peer();
        PeerProcess dpu = dpu("sync", cpu.openCpu(machines.folder(), "engine"));
        assertWakesByOneSystemCall(dpu, cpu, 0);
    }

    /** A handle whose process requests a doorbell at all times gets one per update, at most. */
    @Test
    void shouldMakeAtMostOneSystemCallPerUpdate() throws Exception {
        PeerProcess cpu = peer();
        byte[] blob = cpu.openCpu(machines.folder(), "sync");
        AtomicBoolean enough = new AtomicBoolean();
        try (HostileHandle hostile = HostileHandle.ofDpu(blob, p0)) {
            Thread requesting =
                    Thread.ofPlatform()
                            .start(() -> {
                                while (!enough.get()) {
                                    hostile.write(0, 1);
                                }
                            });
            cpu.tell("adds 50000");
            String line = cpu.answer();
            enough.set(true);
            requesting.join();
            System.out.println("system calls beside a hostile process: " + line);
            assertThat(line).as("no call but send").matches("\\{(send=\\d+)?}");
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
    void shouldJoinOthersBesideHandlesWithManyDoorbells() throws Exception {
        PeerProcess cpu = peer();
        byte[] blob = cpu.openCpu(machines.folder(), "sync");
        List<HostileHandle> hostile = new ArrayList<>();
        long longest = 0;
        try {
            for (int i = 0; i < HOSTILE_HANDLES; i++) {
                hostile.add(HostileHandle.ofDpu(blob, p0));
            }
            for (int round = 1; round <= ROUNDS; round++) {
                long before = idleBusCalls(cpu);
                cpu.process().freeze();
                for (HostileHandle handle : hostile) {
                    handle.arm(-round); // the counter is 0
                    for (int i = 0; i < DOORBELLS; i++) {
                        handle.ring();
                    }
                }
                long begin = System.nanoTime();
                cpu.process().thaw();
                assertWithinBudget(busCalls(cpu) - before, begin);
                long asked = System.nanoTime();
                SyncEvent handle = SyncEvent.createFromExport(blob, p0, Patience.LIMIT);
                longest = Math.max(longest, System.nanoTime() - asked);
                handle.close();
                assertWithinBudget(busCalls(cpu) - before, begin);
            }
            System.out.printf(Locale.ROOT, "beside doorbells: longestImportNanos=%d%n", longest);
        } finally {
            hostile.forEach(HostileHandle::close);
        }
    }

    private static void assertWithinBudget(long calls, long beginNanos) {
        long millis = (System.nanoTime() - beginNanos) / MILLI;
        System.out.printf(Locale.ROOT, "beside doorbells: busCalls=%d, millis=%d%n", calls, millis);
        assertThat(calls)
                .isPositive()
                .isLessThanOrEqualTo(
                        (millis + 2) * (DoorbellBudget.CALLS_PER_INTERVAL + CALLS_PER_SLEEP)
                                + 3 * CALLS_PER_JOIN);
    }

    /** System calls of its bus thread once that has served all doorbells. */
    private static long idleBusCalls(PeerProcess cpu) {
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
    private static long busCalls(PeerProcess cpu) {
        cpu.tell("bus");
        return Long.parseLong(cpu.answer());
    }

    @Test
    void shouldUseNoProcessorWhileItSleeps() {
        SyncEvent event = started();
        byte[] blob = event.exportPci(pf0);
        PeerProcess onEngine = dpu("engine", blob);
        PeerProcess onQueue = dpu("queue", blob);
        Task engineThread = asleepInKernel(onEngine, "sleep 0");
        Task queueThread = asleepInKernel(onQueue, "sleep 0");
        Use ofEngine = Use.of(engineThread);
        Use ofQueue = Use.of(queueThread);
        assertThat(
                        Await.holdsWithin(
                                MEASURED,
                                () ->
                                        !onEngine.process().isAlive()
                                                || !onQueue.process().isAlive()))
                .as("one has ended")
                .isFalse();
        long seconds = MEASURED.toSeconds();
        for (Use use : List.of(ofEngine.until(engineThread), ofQueue.until(queueThread))) {
            System.out.printf(Locale.ROOT, "asleep: use=%s, seconds=%d%n", use, seconds);
            assertThat(use.cpuNanos())
                    .isLessThanOrEqualTo(MOST_CPU_NANOS + MOST_CPU_NANOS_PER_SECOND * seconds);
            assertThat(use.wakeUps())
                    .isLessThanOrEqualTo(MOST_WAKE_UPS + MOST_WAKE_UPS_PER_SECOND * seconds);
        }
        event.set(1);
        assertThat(onEngine.answer()).isEqualTo("1");
        assertThat(onQueue.answer()).isEqualTo("1");
    }

    /** Handles that join and leave without pause do not keep a program that sleeps awake. */
    @ParameterizedTest
    @ValueSource(strings = {"engine", "queue"})
    void shouldSleepBesideHandlesThatJoinAndLeaveWithoutPause(String mode) {
        PeerProcess cpu = peer();
        byte[] blob = cpu.openCpu(machines.folder(), mode);
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
                Locale.ROOT,
                "beside joins: mode=%s, joins=%d, intervals=%d, use=%s%n",
                mode,
                MANY_JOINS,
                intervals,
                use);
        // It is told once per interval, and hears of the end of a link that it listens to.
        assertThat(use.wakeUps()).isLessThanOrEqualTo(5 * intervals);
        SyncEvent handle = closedLater(SyncEvent.createFromExport(blob, p0)).start();
        handle.set(1);
        assertThat(cpu.answer()).isEqualTo("1");
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
    private static Task asleepInKernel(PeerProcess peer, String command) {
        Task task =
                new Task(
                        Path.of("/proc/" + peer.process().pid() + "/task/" + peer.asleep(command)));
        Await.until("the thread sleeps", task::isAsleep);
        return task;
    }

    @ParameterizedTest
    @ValueSource(strings = {"engine", "queue"})
    @Clause("core-204")
    void shouldEndASleepingDpuHandleWhenTheEventIsDestroyed(String mode) {
        SyncEvent event = started();
        PeerProcess dpu = dpu(mode, event.exportPci(pf0));
        dpu.asleep("sleep 0");
        event.stop();
        long begin = System.nanoTime();
        event.close();
        assertThat(dpu.answer()).isEqualTo("SHUTDOWN");
        System.out.printf(
                Locale.ROOT, "ended: mode=%s, nanos=%d%n", mode, System.nanoTime() - begin);
    }

    @Test
    @Clause("core-204")
    void shouldEndADpuHandleWithAResetWhenTheProcessOfTheCpuHandleIsKilled(Processes processes)
            throws Exception {
        PeerProcess cpu = new PeerProcess(processes);
        byte[] blob = cpu.openCpu(machines.folder(), "sync");
        PeerProcess sleeping = dpu("engine", blob);
        SyncEvent handle = closedLater(SyncEvent.createFromExport(blob, p0)).start();
        sleeping.asleep("sleep 0");
        CompletableFuture<Void> waiting =
                CompletableFuture.runAsync(() -> handle.waitGreater(0, ALL));
        long begin = System.nanoTime();
        cpu.kill();
        assertThat(sleeping.answer()).isEqualTo("CONNECTION_RESET");
        try {
            waiting.get(Patience.SECONDS, TimeUnit.SECONDS);
            throw new AssertionError("wait has succeeded");
        } catch (ExecutionException e) {
            assertThat(((DpuException) e.getCause()).status()).isEqualTo(Status.CONNECTION_RESET);
        }
        System.out.printf(Locale.ROOT, "reset: nanos=%d%n", System.nanoTime() - begin);
        Thrown.with(Status.CONNECTION_RESET, () -> handle.set(1))
                .hasMessageContaining("process of the CPU handle has ended");
        Thrown.with(Status.NOT_FOUND, () -> SyncEvent.createFromExport(blob, p0));
    }

    @Test
    void shouldLoseOnlyTheHandlesOfAProcessThatIsKilled(Processes processes) {
        SyncEvent event = started();
        byte[] blob = event.exportPci(pf0);
        PeerProcess killed = new PeerProcess(processes);
        killed.openDpu(machines.folder(), "engine", blob);
        PeerProcess survivor = dpu("engine", blob);
        killed.asleep("sleep 0");
        survivor.asleep("sleep 0");
        killed.kill();
        event.set(1);
        assertThat(survivor.answer()).isEqualTo("1");
    }

    /**
     * Updates do not block while a process with a handle is stopped, and it misses none. An update
     * that waited for the process would not return, since this thread lets it continue.
     */
    @ParameterizedTest
    @ValueSource(strings = {"engine", "queue"})
    @Tag(Soak.TAG)
    void shouldContinueAfterAStopOfAProcess(String mode, SeededRandom random) {
        long started = System.nanoTime();
        SyncEvent event = started();
        byte[] blob = event.exportPci(pf0);
        PeerProcess stopped = dpu(mode, blob);
        SyncEvent other = imported(event).start();
        int stops = Soak.count(1, 1, 10);
        long longest = 0;
        long updates = 0;
        for (int i = 0; i < stops; i++) {
            stopped.asleep("sleep " + (event.get() + 1_000_000));
            stopped.process().freeze();
            long end = System.nanoTime() + durationOf(i, random);
            do {
                long begin = System.nanoTime();
                event.add(1_000_000);
                other.add(1_000_000);
                longest = Math.max(longest, System.nanoTime() - begin);
                updates++;
            } while (System.nanoTime() < end);
            stopped.process().thaw();
            assertThat(stopped.answer()).matches("[1-9]\\d*");
        }
        Soak.report(
                "sync-event-stops-" + mode,
                random.seed(),
                Duration.ofNanos(System.nanoTime() - started),
                Text.format("stops=%d, updates=%d, longestNanos=%d", stops, updates, longest));
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
    void shouldRelayAfterAStopOfTheProcessOfTheCpuHandle(SeededRandom random) {
        long started = System.nanoTime();
        PeerProcess cpu = peer();
        byte[] blob = cpu.openCpu(machines.folder(), "sync");
        PeerProcess sleeping = dpu("engine", blob);
        SyncEvent updating = closedLater(SyncEvent.createFromExport(blob, p0)).start();
        int stops = Soak.count(1, 1, 100);
        for (int i = 0; i < stops; i++) {
            sleeping.asleep("sleep " + updating.get());
            cpu.process().freeze();
            int updates = 1 + random.nextInt(100_000);
            for (int j = 0; j < updates; j++) {
                updating.add(1);
            }
            cpu.process().thaw();
            assertThat(sleeping.answer()).matches("[1-9]\\d*");
        }
        Soak.report(
                "sync-event-stops-of-cpu",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - started),
                "stops=" + stops);
    }
}
