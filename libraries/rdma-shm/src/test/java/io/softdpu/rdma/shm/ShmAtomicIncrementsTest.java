package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Increments of one number by three processes over RDMA, and by the CPU of the process that owns
 * the memory for as long as one of them runs: none is lost.
 */
@StartsProcesses
@Tag(Soak.TAG)
class ShmAtomicIncrementsTest {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final int PROCESSES = 3;

    /**
     * Owner of the memory: adds to the number until it is told to end, several at once, with a
     * pause of random length in between. Without pauses no compare and swap of another process
     * could find what it expects; they become longer while the number is as it was left.
     */
    private static final class Owner implements AutoCloseable {
        private static final int AT_ONCE = 16;
        private static final long SHORTEST_NANOS = 1_000;
        private static final long LONGEST_NANOS = 1_000_000;

        private final MemorySegment number;
        private final SeededRandom random;
        private final AtomicLong added = new AtomicLong();
        private final AtomicBoolean ended = new AtomicBoolean();
        private final Thread thread = new Thread(this::add, "owner");

        Owner(MemorySegment number, SeededRandom random) {
            this.number = number;
            this.random = random;
            thread.start();
        }

        private void add() {
            long limitNanos = SHORTEST_NANOS;
            while (!ended.get()) {
                long left = 0;
                for (int i = 0; i < AT_ONCE; i++) {
                    left = (long) LONG.getAndAdd(number, 0L, 1L) + 1;
                }
                added.setRelease(added.getPlain() + AT_ONCE);
                long until = System.nanoTime() + random.between(0, limitNanos);
                while (System.nanoTime() < until && !ended.get()) {
                    Thread.onSpinWait();
                }
                boolean others = (long) LONG.getVolatile(number, 0L) != left;
                limitNanos = others ? SHORTEST_NANOS : Math.min(2 * limitNanos, LONGEST_NANOS);
            }
        }

        long added() {
            return added.getAcquire();
        }

        @Override
        public void close() {
            ended.set(true);
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Test
    @Clause({"rdma-134", "rdma-143"})
    void shouldLoseNoIncrementOfSeveralProcessesAndTheOwnersCpu(
            @TempDir Path folder, Processes processes, SeededRandom random) throws Exception {
        long began = System.nanoTime();
        long least = Soak.count(100_000, 100_000, 10_000_000);
        long perProcess = (least / PROCESSES / AtomicAdder.SWAP_EACH + 1) * AtomicAdder.SWAP_EACH;
        try (Machine machine = Machine.builder(Side.DPU).fabricFolder(folder).open();
                Device device = machine.findDevice("03:00.0").open();
                SharedMemory memory = SharedMemory.allocate(4096);
                Mmap mmap = Mmap.create();
                ProgressEngine engine = ProgressEngine.create();
                Rdma rdma = Rdma.create(device)) {
            mmap.setMemory(memory)
                    .setPermissions(
                            Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_ATOMIC))
                    .addDevice(device)
                    .start();
            rdma.setMaxConnections(PROCESSES)
                    .setPermissions(Permissions.of(AccessFlag.RDMA_ATOMIC))
                    .setConnectionCallback((connection, previous, next) -> {});
            engine.connect(rdma);
            rdma.start();
            String exported = HexFormat.of().formatHex(mmap.exportRdma(device));
            List<ChildProcess> adders = new ArrayList<>();
            for (int i = 0; i < PROCESSES; i++) {
                adders.add(start(processes, folder, perProcess));
            }
            for (ChildProcess adder : adders) {
                connect(adder, rdma, engine, exported);
            }
            long sum = 0;
            long tried = 0;
            long whileAllRan;
            Owner owner = new Owner(memory.segment(), random);
            try (owner) {
                for (ChildProcess adder : adders) {
                    tell(adder, "go");
                }
                for (ChildProcess adder : adders) {
                    adder.awaitLine("^" + AtomicAdder.BEGUN);
                }
                whileAllRan = -owner.added();
                Await.until(
                        "one is done",
                        () -> adders.stream().anyMatch(ShmAtomicIncrementsTest::isDone));
                whileAllRan += owner.added();
                for (ChildProcess adder : adders) {
                    String line = adder.awaitLine("^" + AtomicAdder.DONE);
                    String[] words =
                            line.substring(AtomicAdder.DONE.length()).split(" swapsTried=");
                    sum += Long.parseLong(words[0]);
                    tried += Long.parseLong(words[1]);
                }
            }
            assertThat(sum).as("by processes").isGreaterThanOrEqualTo(least);
            sum += owner.added();
            long found = (long) LONG.getVolatile(memory.segment(), 0L);
            Soak.report(
                    "rdma-atomics",
                    random.seed(),
                    Duration.ofNanos(System.nanoTime() - began),
                    Text.format(
                            "increments=%d, processes=%d, swapsTried=%d, ofOwner=%d,"
                                    + " ofOwnerWhileAllRan=%d, lost=%d",
                            sum, PROCESSES, tried, owner.added(), whileAllRan, sum - found));
            assertThat(found).isEqualTo(sum);
            for (ChildProcess adder : adders) {
                assertThat(adder.awaitExit()).as("%s", adder.errorLines()).isZero();
            }
            rdma.stop();
            Await.byStep("idle", () -> rdma.state() == ContextState.IDLE, engine::progress);
            mmap.stop();
        }
    }

    private static ChildProcess start(Processes processes, Path folder, long increments) {
        return processes.start(
                JavaCommand.ofClass(AtomicAdder.class)
                        .withArguments(folder.toString(), Long.toString(increments)));
    }

    private static void connect(
            ChildProcess adder, Rdma rdma, ProgressEngine engine, String exported)
            throws IOException {
        RdmaConnection connection = rdma.exportConnection();
        String line = adder.awaitLine("^" + AtomicAdder.CONNECTION);
        rdma.connect(
                HexFormat.of().parseHex(line.substring(AtomicAdder.CONNECTION.length())),
                connection);
        tell(adder, HexFormat.of().formatHex(connection.blob()));
        tell(adder, exported);
        Await.byStep(
                "connection",
                () -> connection.state() == RdmaConnection.State.CONNECTED,
                () -> engine.await(Duration.ofMillis(10)));
        adder.awaitLine("^" + AtomicAdder.CONNECTED);
    }

    private static boolean isDone(ChildProcess adder) {
        return adder.outputLines().stream().anyMatch(line -> line.startsWith(AtomicAdder.DONE));
    }

    private static void tell(ChildProcess process, String line) throws IOException {
        process.standardInput().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        process.standardInput().flush();
    }
}
