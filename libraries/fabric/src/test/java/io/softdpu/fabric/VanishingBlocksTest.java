package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.thread.MappingWorkers;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.Memfd;
import io.softdpu.linux.MemoryMapping;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.MemoryCgroup;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import io.softdpu.testkit.SystemCalls;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Exporter that deallocates the blocks of its memory as soon as it was accepted: pages that the
 * importer populates would then be charged to the importer.
 */
final class VanishingBlocksTest {

    /** The exporter of a test, and the next ones of a test that has several. */
    private static final RegionAddress.Id EXPORTER = new RegionAddress.Id(1, 0);

    @TempDir Path folder;

    private Bus bus;

    @BeforeEach
    void open() {
        bus = bus(folder);
    }

    @AfterEach
    void close() {
        bus.close();
    }

    private static Bus bus(Path folder) {
        return Bus.open(
                new Bus.Config(
                        folder.resolve("fabric"),
                        new byte[32],
                        "t",
                        Patience.NANOS,
                        4L << 30,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE));
    }

    private static RegionAddress address(Bus bus, RegionAddress.Id exporter, long sizeBytes) {
        return new RegionAddress(
                bus.bootId(), bus.fabricId(), exporter, 1, new RegionAddress.Id(3, 4), sizeBytes);
    }

    @Test
    void shouldRefuseMemoryWhoseBlocksVanishBeforeItIsMapped() throws Exception {
        long sizeBytes = 64 << 20;
        int pid = (int) ProcessHandle.current().pid();
        CountDownLatch punched = new CountDownLatch(1);
        bus.runForPeer(pid, () -> await(punched)); // its mapping waits behind this
        try (Exporter exporter = new Exporter(bus, EXPORTER, sizeBytes)) {
            CompletableFuture<ImportedRegion> importing =
                    bus.importRegion(address(bus, EXPORTER, sizeBytes), true, true, Patience.NANOS)
                            .future();
            exporter.grant();
            Await.until("the memory was examined", () -> bus.mappedBytesOfPeers() > sizeBytes);

            exporter.punch();
            punched.countDown();

            assertThatThrownBy(() -> importing.get(Patience.SECONDS, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(FabricException.class)
                    .hasMessage(
                            Text.format(
                                    "memory refused, its blocks vanished after it was examined:"
                                            + " peerPid=%d, allocatedBytes=0, expected=%d,"
                                            + " mappedBytes=0",
                                    pid, sizeBytes));
            assertThat(exporter.allocatedBytes()).isZero();
            Await.until("all is unmapped", () -> bus.mappedBytesOfPeers() == 0);
        }
    }

    /** Between the grant and a later mapping the exporter has all the time that it needs. */
    @Test
    void shouldRefuseToMapLaterWhatHasVanishedMeanwhile() throws Exception {
        long sizeBytes = 32 << 20;
        try (Exporter exporter = new Exporter(bus, EXPORTER, sizeBytes)) {
            CompletableFuture<ImportedRegion> importing =
                    bus.importRegion(address(bus, EXPORTER, sizeBytes), true, false, Patience.NANOS)
                            .future();
            exporter.grant();
            ImportedRegion lease = importing.get(Patience.SECONDS, TimeUnit.SECONDS);
            exporter.punch();

            assertThatThrownBy(lease::mapForPeers)
                    .isInstanceOf(FabricException.class)
                    .hasMessageContaining("its blocks vanished after it was examined");
            assertThat(exporter.allocatedBytes()).isZero();
            lease.close();
            Await.until("all is unmapped", () -> bus.mappedBytesOfPeers() == 0);
        }
    }

    /** Spare blocks beyond the end, as few as a large page may have, hide no holes before it. */
    @Test
    void shouldRefuseMemoryOfWhichAsMuchVanishesAsItHasBeyondItsEnd() throws Exception {
        long sizeBytes = 64 << 20;
        long spareBytes = 1 << 20;
        int pid = (int) ProcessHandle.current().pid();
        int memory = Memfd.create("spare");
        Memfd.allocate(memory, sizeBytes);
        assertThat(RawSocket.allocateBeyondTheEnd(memory, sizeBytes, spareBytes)).isZero();
        Memfd.addSeals(memory, Memfd.SEAL_SHRINK | Memfd.SEAL_GROW | Memfd.SEAL_SEAL);
        CountDownLatch punched = new CountDownLatch(1);
        bus.runForPeer(pid, () -> await(punched));
        try (Exporter exporter = new Exporter(bus, EXPORTER, sizeBytes, memory)) {
            CompletableFuture<ImportedRegion> importing =
                    bus.importRegion(address(bus, EXPORTER, sizeBytes), true, true, Patience.NANOS)
                            .future();
            exporter.grant();
            Await.until("the memory was examined", () -> bus.mappedBytesOfPeers() > sizeBytes);

            SystemCalls.punchHole(memory, 0, spareBytes);
            punched.countDown();

            assertThatThrownBy(() -> importing.get(Patience.SECONDS, TimeUnit.SECONDS))
                    .cause()
                    .hasMessageContaining(
                            Text.format(
                                    "its blocks vanished after it was examined: peerPid=%d,"
                                            + " allocatedBytes=%d, expected=%d",
                                    pid, sizeBytes, sizeBytes + spareBytes));
        }
    }

    @Test
    @Tag(Soak.TAG)
    void shouldFillAtMostOneSliceWheneverBlocksVanish(SeededRandom random) throws Exception {
        long sizeBytes = 96 << 20;
        long begin = System.nanoTime();
        long least =
                Soak.duration(Duration.ofMillis(300), Duration.ofSeconds(2), Duration.ofMinutes(10))
                        .toNanos();
        int refused = 0;
        int mapped = 0;
        long mostBytes = 0;
        while (System.nanoTime() - begin < least) {
            RegionAddress.Id id = new RegionAddress.Id(1, refused + mapped);
            try (Exporter exporter = new Exporter(bus, id, sizeBytes)) {
                CompletableFuture<ImportedRegion> importing =
                        bus.importRegion(address(bus, id, sizeBytes), true, true, Patience.NANOS)
                                .future();
                exporter.grant();
                LockSupport.parkNanos(random.nextLong(40_000_000)); // a random point of the import
                exporter.punch();
                try {
                    importing.get(Patience.SECONDS, TimeUnit.SECONDS).close();
                    mapped++;
                } catch (ExecutionException e) {
                    // The punch may come before the first look at the descriptor, too.
                    assertThat(e.getMessage())
                            .containsAnyOf(
                                    "memory refused, its blocks vanished",
                                    "descriptor refused: not allocated");
                    refused++;
                }
                mostBytes = Math.max(mostBytes, exporter.allocatedBytes());
            }
            Await.until("all is unmapped", () -> bus.mappedBytesOfPeers() == 0);
        }
        Soak.report(
                "vanishing-blocks",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format(
                        "refused=%d, mapped=%d, most_refilled_bytes=%d, limit_bytes=%d",
                        refused, mapped, mostBytes, MappingWorkers.SLICE_BYTES));
        assertThat(mostBytes).isLessThanOrEqualTo(MappingWorkers.SLICE_BYTES);
    }

    /**
     * The importer has a memory cgroup that the exporter's memory would not fit into, and a heap
     * that leaves much of it free. All of that memory has to be allocated to be examined.
     */
    @Test
    @StartsProcesses
    void shouldNotHaveAnImporterKilledForWhatVanished(Processes processes) throws Exception {
        long sizeBytes = 128 << 20;
        MemoryCgroup cgroup = MemoryCgroup.tryCreate(sizeBytes).orElse(null);
        assumeTrue(cgroup != null, "a memory cgroup can be made here");
        try (cgroup;
                Exporter exporter = new Exporter(bus, EXPORTER, sizeBytes)) {
            ChildProcess importer =
                    processes.start(
                            cgroup.around(
                                    JavaCommand.ofClass(Importer.class)
                                            .withJvmOptions("-Xmx32m")
                                            .withArguments(
                                                    folder.toString(), Long.toString(sizeBytes))));
            exporter.grant();
            importer.awaitLine("^examined$");

            exporter.punch();
            importer.standardInput().write("go on\n".getBytes(StandardCharsets.UTF_8));
            importer.standardInput().flush();

            assertThat(importer.awaitLine("^(refused|mapped)"))
                    .startsWith("refused: memory refused, its blocks vanished");
            assertThat(importer.awaitExit()).isZero();
            assertThat(exporter.allocatedBytes()).isLessThanOrEqualTo(MappingWorkers.SLICE_BYTES);
        }
    }

    /** Imports the exporter's memory; between examining and mapping it waits for a line. */
    static final class Importer {
        private Importer() {}

        /** Arguments: folder of the test, size of the memory. */
        public static void main(String[] arguments) throws Exception {
            long sizeBytes = Long.parseLong(arguments[1]);
            try (Bus bus = bus(Path.of(arguments[0]))) {
                CountDownLatch goOn = new CountDownLatch(1);
                bus.runForPeer(
                        (int) ProcessHandle.current().parent().orElseThrow().pid(),
                        () -> await(goOn));
                CompletableFuture<ImportedRegion> importing =
                        bus.importRegion(
                                        address(bus, EXPORTER, sizeBytes),
                                        true,
                                        true,
                                        Patience.NANOS)
                                .future();
                Await.until("the memory was examined", () -> bus.mappedBytesOfPeers() > sizeBytes);
                System.out.println("examined");
                int _ = System.in.read();
                goOn.countDown();
                try {
                    importing.get(Patience.SECONDS, TimeUnit.SECONDS).close();
                    System.out.println("mapped");
                } catch (ExecutionException e) {
                    System.out.println("refused: " + e.getCause().getMessage());
                }
            }
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Serves one region by hand. */
    private static final class Exporter implements AutoCloseable {
        private final long sizeBytes;
        private final int memory;
        private final int page = BadDescriptor.good(MemoryMapping.pageSize());
        private final HostilePeer peer;

        Exporter(Bus bus, RegionAddress.Id id, long sizeBytes) {
            this(bus, id, sizeBytes, BadDescriptor.good(sizeBytes));
        }

        /** Takes the descriptor of the memory over. */
        Exporter(Bus bus, RegionAddress.Id id, long sizeBytes, int memory) {
            this.sizeBytes = sizeBytes;
            this.memory = memory;
            this.peer = HostilePeer.serve(bus, HostilePeer.exporterName(id));
        }

        void grant() {
            peer.accept();
            assertThat(peer.receive()).isInstanceOf(Frame.Lease.class);
            peer.send(new Frame.Grant(sizeBytes, true, new long[] {0}), memory, page);
        }

        void punch() {
            SystemCalls.punchHole(memory, 0, sizeBytes);
        }

        long allocatedBytes() {
            return FileDescriptors.status(memory).allocatedBytes();
        }

        @Override
        public void close() {
            peer.close();
            FileDescriptors.close(memory);
            FileDescriptors.close(page);
        }
    }
}
