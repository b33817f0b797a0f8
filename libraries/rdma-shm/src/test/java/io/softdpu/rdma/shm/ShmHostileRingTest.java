package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaOpcode;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.CpuMeter;
import io.softdpu.testkit.HiccupMeter;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A peer writes arbitrary values to both rings of its connection while the engine reads them;
 * another connection of the same engine is not affected, and each end of the first has a known
 * reason.
 */
class ShmHostileRingTest {
    /** CPU time of one progress. */
    private static final Duration CPU_LIMIT = Duration.ofMillis(500);

    private static final long HEAP_LIMIT_BYTES = 16 << 20;
    private static final int WRITES_A_CONNECTION = 128;
    private static final int ROOM = 3 * ShmConnection.GEOMETRY.maxPayloadBytes();
    private static final int TASKS = 16;

    /** Ends for words with legal values, or with illegal ones that were not read in time. */
    private static final Set<String> OTHERWISE =
            Set.of(
                    "survived",
                    "the peer had no receive task for a message and the retries are exhausted");

    /** Reasons per word whose values are checked; other words may have any value. */
    private static final Map<String, Set<String>> NAMED =
            new TreeMap<>(
                    Map.of(
                            "victims-ring/slot-length",
                            Set.of("own ring slot length out of range"),
                            "victims-ring/slot-type",
                            Set.of("fragment type is wrong", "write with immediate is not granted"),
                            "victims-ring/slot-word",
                            Set.of(
                                    "message is too large",
                                    "send has an immediate",
                                    "fragment offset is wrong",
                                    "fragment length is wrong",
                                    "fragment of a write has a payload",
                                    "a message was larger than the buffer of its receive task"),
                            "own-ring/consumed",
                            Set.of("its ring consumed index out of range"),
                            "own-ring/status",
                            Set.of(
                                    "the RDMA connection has failed at the peer",
                                    "the peer of the RDMA connection reported a protocol violation",
                                    "a message was larger than the buffer of the peer's receive"
                                            + " task")));

    private final CpuMeter cpu = new CpuMeter();
    private final Map<String, Integer> reasons = new TreeMap<>();
    private final Map<String, Integer> writes = new TreeMap<>();
    private final Map<RdmaOpcode, Integer> opcodes = new EnumMap<>(RdmaOpcode.class);
    private Machine machine;
    private Machine elsewhere;
    private Device device;
    private Device otherDevice;
    private ProgressEngine engine;
    private SharedMemory memory;
    private Mmap mmap;
    private BufInventory inventory;
    private VerifiedSends verified;
    private HiccupMeter hiccups;
    private volatile boolean failed;
    private int mutations;
    private int sendsOut;
    private long longestWallNanos;
    private long longestGapNanos;
    private long lastCount;
    private long lastNanos;

    @BeforeEach
    void open(@TempDir Path folder) {
        machine = Machine.builder(Side.DPU).fabricFolder(folder).open();
        elsewhere = Machine.builder(Side.TARGET).fabricFolder(folder).open();
        device = machine.findDevice("03:00.0").open();
        otherDevice = elsewhere.findDevice("t0").open();
        engine = ProgressEngine.create();
        memory = SharedMemory.allocate(3L * ROOM);
        memory.segment().fill((byte) 0xa5);
        mmap = Mmap.create();
        mmap.setMemory(memory)
                .setPermissions(Permissions.of(AccessFlag.LOCAL_READ_WRITE))
                .addDevice(device)
                .start();
        inventory = BufInventory.create(4 * TASKS);
        inventory.start();
        verified = new VerifiedSends(device, engine);
        // What an engine makes with its first timer stays until it is closed: no leak of a round.
        engine.timer(() -> {});
    }

    @AfterEach
    void close() {
        verified.stop();
        drive("verified traffic stops", verified::isIdle);
        verified.close();
        engine.close();
        inventory.close();
        mmap.close();
        memory.close();
        device.close();
        otherDevice.close();
        machine.close();
        elsewhere.close();
    }

    @Tag(Soak.TAG)
    @Test
    void shouldServeOthersWhileAPeerWritesAnythingIntoTheRings(SeededRandom random)
            throws Exception {
        int wanted = Soak.count(20_000, 20_000, 1_000_000);
        drive("verified traffic", () -> verified.count() > 100);
        round(random);
        LeakCheck leaks = LeakCheck.begin();
        long heapBefore = heapUsed();
        long verifiedBefore = verified.count();
        long begin = System.nanoTime();
        lastNanos = begin;
        longestWallNanos = 0;
        hiccups = new HiccupMeter();
        int connections = 0;
        mutations = 0;
        writes.clear();
        reasons.clear();
        opcodes.clear();
        while (mutations < wanted) {
            round(random);
            connections++;
        }
        long heapAfter = heapUsed();
        long during = verified.count() - verifiedBefore;
        hiccups.close();
        leaks.assertNothingLeft();
        assertThat(during).as("verified meanwhile").isGreaterThan(100);
        assertThat(cpu.longestNanos()).as("CPU time of a progress").isLessThan(CPU_LIMIT.toNanos());
        assertThat(heapAfter - heapBefore).as("heap growth").isLessThan(HEAP_LIMIT_BYTES);
        assertThat(opcodes.keySet()).as("received").hasSize(RdmaOpcode.values().length);
        NAMED.forEach((word, names) ->
                assertThat(hits(names)).as("ended for %s: %s", word, reasons).isPositive());
        assertThat(reasons.keySet())
                .as("each end has a reason, which is due to a word")
                .allMatch(reason ->
                        OTHERWISE.contains(reason)
                                || NAMED.values().stream().anyMatch(of -> of.contains(reason)));
        List<String> findings = new ArrayList<>();
        findings.add("mutations=" + mutations);
        findings.add("connections=" + connections);
        findings.add("verified=" + during);
        findings.add("longestProgressCpuMicros=" + cpu.longestNanos() / 1000);
        findings.add("longestProgressMicros=" + longestWallNanos / 1000);
        findings.add("longestGapMicros=" + longestGapNanos / 1000);
        findings.add("longestHiccupMicros=" + hiccups.longestNanos() / 1000);
        NAMED.forEach((word, names) -> findings.add("hit/" + word + "=" + hits(names)));
        findings.add("otherwise=" + hits(OTHERWISE));
        opcodes.forEach((opcode, n) -> findings.add("received/" + opcode + "=" + n));
        writes.forEach((field, n) -> findings.add("written/" + field + "=" + n));
        Soak.report(
                "hostile-rings-shm",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                String.join(", ", findings));
    }

    /** Connections that ended by one of these names. */
    private int hits(Set<String> names) {
        return names.stream().mapToInt(name -> reasons.getOrDefault(name, 0)).sum();
    }

    // ---- the victim ----

    /** One connection to the hostile peer, until it has failed or the peer has done enough. */
    private void round(SeededRandom random) throws Exception {
        sendsOut = 0;
        Rdma rdma = Rdma.create(device);
        rdma.setRnrRetries(random.chance(0.1) ? 1 : Rdma.RNR_RETRIES_UNLIMITED);
        boolean granting = random.chance(0.8); // otherwise a write with immediate is a violation
        rdma.setPermissions(
                granting ? Permissions.of(AccessFlag.RDMA_WRITE) : Permissions.LOCAL_READ_ONLY);
        rdma.setReceiveTasks(
                TASKS,
                task -> {
                    requireResult(task, granting);
                    task.destination().release();
                    task.free();
                },
                task -> {
                    task.destination().release();
                    task.free();
                });
        rdma.setSendTasks(
                TASKS,
                task -> {
                    sendsOut--;
                    task.free();
                },
                task -> {
                    sendsOut--;
                    task.free();
                });
        engine.connect(rdma);
        rdma.start();
        RdmaConnection connection = rdma.exportConnection();
        try (HostilePeer peer = new HostilePeer(otherDevice, connection.blob())) {
            rdma.connect(peer.blob(), connection);
            peer.lease().hello();
            drive("connected", () -> connection.state() == RdmaConnection.State.CONNECTED);
            attack(rdma, connection, peer, random.fork());
        }
        if (rdma.state() == ContextState.RUNNING) {
            rdma.stop();
        }
        drive("idle", () -> rdma.state() == ContextState.IDLE);
        String reason =
                connection.state() == RdmaConnection.State.FAILED
                        ? nameOf(connection.failureReason())
                        : "survived";
        reasons.merge(reason, 1, Integer::sum);
        rdma.close();
        requireGuard();
    }

    /** What a receive tells, whatever was written: nothing beyond its buf, or beyond the limit. */
    private void requireResult(RdmaReceiveTask task, boolean granting) {
        opcodes.merge(task.resultOpcode(), 1, Integer::sum);
        boolean written = task.resultOpcode() == RdmaOpcode.WRITE_IMMEDIATE;
        long dataLength = task.destination().dataLength();
        long limit = written ? ShmWire.MAX_MESSAGE_BYTES : ROOM;
        if (task.resultLength() < 0
                || task.resultLength() > limit
                || dataLength != (written ? 0 : task.resultLength())
                || (written && !granting)
                || (task.resultOpcode() == RdmaOpcode.SEND && task.resultImmediate() != 0)) {
            throw new AssertionError(
                    Text.format(
                            "illegal result: opcode=%s, length=%d, dataLength=%d, immediate=%d",
                            task.resultOpcode(),
                            task.resultLength(),
                            dataLength,
                            task.resultImmediate()));
        }
    }

    private void attack(Rdma rdma, RdmaConnection connection, HostilePeer peer, SeededRandom random)
            throws InterruptedException {
        List<Throwable> failures = new ArrayList<>();
        Thread attacker = new Thread(() -> write(peer, random), "attacker");
        failed = false;
        attacker.setUncaughtExceptionHandler((thread, e) -> failures.add(e));
        attacker.start();
        while (attacker.isAlive()) {
            if (connection.state() == RdmaConnection.State.CONNECTED) {
                keepBusy(rdma, connection);
            } else {
                failed = true; // what the attacker goes on to write nobody reads
            }
            progress();
        }
        attacker.join();
        assertThat(failures).isEmpty();
    }

    private void keepBusy(Rdma rdma, RdmaConnection connection) {
        while (rdma.state() == ContextState.RUNNING && rdma.inFlightTasks() - sendsOut < 8) {
            rdma.allocateReceive(inventory.bufByAddress(mmap, ROOM, ROOM)).submit();
        }
        while (sendsOut < 4) {
            var task = rdma.allocateSend(connection, null);
            if (task.trySubmit() != Status.SUCCESS) {
                task.free();
                return;
            }
            sendsOut++;
        }
    }

    private void requireGuard() {
        MemorySegment bytes = memory.segment();
        for (long i = 0; i < ROOM; i += 8) {
            if (bytes.get(ValueLayout.JAVA_LONG, i) != 0xa5a5a5a5a5a5a5a5L
                    || bytes.get(ValueLayout.JAVA_LONG, 2 * ROOM + i) != 0xa5a5a5a5a5a5a5a5L) {
                throw new AssertionError("written beside the receive: near=" + i);
            }
        }
    }

    private static String nameOf(String reason) {
        return reason.replaceFirst("^.*violated the protocol: ", "")
                .replaceFirst("[=:].*$", "")
                .replace(",", "");
    }

    // ---- the peer ----

    /** Word of the victim's ring, which this peer writes, or of its own, which the victim reads. */
    private record Field(String name, boolean victims, long offset, int widthBytes, boolean slot) {}

    private static final List<Field> FIELDS = fields();

    private static List<Field> fields() {
        List<Field> fields = new ArrayList<>();
        for (boolean victims : new boolean[] {true, false}) {
            String ring = victims ? "victims-ring/" : "own-ring/";
            fields.add(new Field(ring + "receive-limit", victims, -128, 8, false));
            fields.add(new Field(ring + "magic", victims, 0, 8, false));
            fields.add(new Field(ring + "version", victims, 8, 4, false));
            fields.add(new Field(ring + "kind", victims, 12, 4, false));
            fields.add(new Field(ring + "slots", victims, 16, 4, false));
            fields.add(new Field(ring + "max-payload", victims, 20, 4, false));
            fields.add(new Field(ring + "consumed", victims, 256, 8, false));
            fields.add(new Field(ring + "owner-armed", victims, 384, 4, false));
            fields.add(new Field(ring + "peer-armed", victims, 512, 4, false));
            fields.add(new Field(ring + "status", victims, 640, 4, false));
            fields.add(new Field(ring + "slot-length", victims, 1024, 4, true));
            fields.add(new Field(ring + "slot-type", victims, 1028, 4, true));
            fields.add(new Field(ring + "slot-word", victims, 1032, 8, true));
            fields.add(new Field(ring + "slot-stamp", victims, 1040, 8, true));
        }
        return fields;
    }

    /** Writes on a thread of its own, as fast as possible. */
    private void write(HostilePeer peer, SeededRandom random) {
        MemorySegment victims = peer.victimMemory().asSlice(ShmWire.RING_OFFSET - 128);
        MemorySegment own = peer.memory.segment();
        long produced = 1; // the hello
        for (int i = 0; i < WRITES_A_CONNECTION && !failed; i += 8) {
            Field field = FIELDS.get(mutations / 8 % FIELDS.size());
            MemorySegment ring = field.victims ? victims : own;
            long slot = 128 + 1024 + produced % 128 * ShmConnection.GEOMETRY.strideBytes();
            int length = random.nextInt(64);
            int opcode =
                    random.oneOf(
                            ShmWire.OPCODE_SEND,
                            ShmWire.OPCODE_SEND_IMMEDIATE,
                            ShmWire.OPCODE_WRITE_IMMEDIATE);
            int immediate = opcode == ShmWire.OPCODE_SEND ? 0 : random.nextInt();
            victims.set(
                    ValueLayout.JAVA_INT,
                    slot,
                    opcode == ShmWire.OPCODE_WRITE_IMMEDIATE ? 0 : length);
            victims.set(
                    ValueLayout.JAVA_INT,
                    slot + 4,
                    opcode | ShmWire.FLAG_FIRST | ShmWire.FLAG_LAST);
            victims.set(ValueLayout.JAVA_LONG, slot + 8, ShmWire.firstWord(length, immediate));
            long at = field.slot ? slot + field.offset - 1024 : 128 + field.offset;
            for (int k = 0; k < 8; k++) {
                if (k == 4) {
                    produced++;
                    victims.set(ValueLayout.JAVA_LONG, slot + 16, produced);
                }
                put(ring, at, field.widthBytes, value(random, produced));
                mutations++;
                writes.merge(field.name, 1, Integer::sum);
                for (int spins = random.nextInt(100); spins > 0; spins--) {
                    Thread.onSpinWait();
                }
            }
            victims.set(ValueLayout.JAVA_LONG, slot + 16, produced); // else no further one is seen
            Thread.yield(); // the engine's turn; it may be on the same core
        }
    }

    private static long value(SeededRandom random, long near) {
        return switch (random.nextInt(4)) {
            case 0 ->
                    random.oneOf(
                            0L,
                            1L,
                            -1L,
                            2L,
                            3L,
                            4L,
                            40L,
                            128L,
                            129L,
                            258L,
                            514L,
                            770L,
                            771L,
                            772L,
                            773L,
                            4095L,
                            4096L,
                            4097L,
                            (long) Integer.MAX_VALUE,
                            (long) Integer.MIN_VALUE,
                            1L << 30,
                            1L << 32,
                            Long.MAX_VALUE,
                            Long.MIN_VALUE);
            case 1 -> near + random.oneOf(0L, 1L, -1L, 127L, 128L, 129L);
            case 2 -> 1L << random.nextInt(64);
            default -> random.nextLong();
        };
    }

    private static void put(MemorySegment ring, long at, int widthBytes, long value) {
        if (widthBytes == 4) {
            ring.set(ValueLayout.JAVA_INT, at, (int) value);
        } else {
            ring.set(ValueLayout.JAVA_LONG, at, value);
        }
    }

    // ---- the engine ----

    private static long heapUsed() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private void drive(String what, BooleanSupplier condition) {
        try {
            Await.byStep(what, condition, this::progress);
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + ", reasons=" + reasons, e);
        }
    }

    private void progress() {
        long wall = System.nanoTime();
        cpu.begin();
        boolean worked = engine.progress();
        cpu.end();
        longestWallNanos = Math.max(longestWallNanos, System.nanoTime() - wall);
        verified.pump();
        long now = System.nanoTime();
        if (lastNanos != 0 && verified.count() != lastCount) {
            longestGapNanos = Math.max(longestGapNanos, now - lastNanos);
            lastCount = verified.count();
            lastNanos = now;
        }
        if (!worked) {
            Thread.yield();
        }
    }
}
