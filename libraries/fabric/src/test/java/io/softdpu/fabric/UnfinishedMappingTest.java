package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Import;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.thread.MappingWorkers;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Imports that end while a mapping worker maps them, before the first slice or between two: nothing
 * is left of them, neither descriptors, mappings and threads nor bytes of the limit.
 */
final class UnfinishedMappingTest {
    private static final long MEMORY_BYTES = 3 * MappingWorkers.SLICE_BYTES;
    private static final int OTHER_PEER = 1_000_000_000;

    /** Point at which an import ends; the page of its generation is mapped before the memory. */
    private enum Progress {
        NOTHING_MAPPED,
        PAGE_MAPPED,
        ONE_SLICE_MAPPED
    }

    @TempDir Path folder;
    private ResourceSnapshot before;
    private Bus exporter;
    private Bus importer;
    private SharedSegment memory;
    private boolean released;
    private ExportedRegion region;
    private CountDownLatch goOn;
    private final List<CountDownLatch> latches = new ArrayList<>();
    private CountDownLatch lastReached;
    private Import<ImportedRegion> asked;
    private CompletableFuture<ImportedRegion> importing;

    @BeforeEach
    void open() {
        Bus warm = bus(folder); // opens what stays open in this process
        warm.close();
        before = ResourceSnapshot.now();
        exporter = bus(folder);
        importer = bus(folder);
        memory = SharedSegment.allocate("memory", MEMORY_BYTES);
        region = exporter.export(memory, true, null);
        goOn = new CountDownLatch(1);
    }

    @AfterEach
    void close() {
        goOn();
        importer.close();
        exporter.close();
        if (!released) {
            released = true;
            memory.release();
        }
    }

    static Bus bus(Path folder) {
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

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Begins an import and stops its mapping at that point, until {@link #goOn}: one worker is
     * occupied by another peer, and the other by a task in the queue of this one, whose tasks take
     * turns.
     */
    private void beginImport(Progress until) {
        importer.runForPeer(OTHER_PEER, () -> await(goOn));
        CountDownLatch afterStart = occupyQueue();
        asked = importer.importRegion(region.address(), true, true, Patience.NANOS);
        importing = asked.future();
        Await.until("page queued", () -> importer.mappedBytesOfPeers() > 0);
        if (until != Progress.NOTHING_MAPPED) {
            CountDownLatch afterPage = goOnInQueue(afterStart);
            Await.until("memory queued", () -> importer.mappedBytesOfPeers() > MEMORY_BYTES);
            if (until != Progress.PAGE_MAPPED) {
                goOnInQueue(afterPage);
            }
        }
        assertThat(importing).isNotDone();
        assertThat(region.leases()).isEqualTo(1);
    }

    /** Occupies the queue of this process until the latch, or the end of the test. */
    private CountDownLatch occupyQueue() {
        CountDownLatch latch = new CountDownLatch(1);
        CountDownLatch reached = new CountDownLatch(1);
        latches.add(latch);
        importer.runForPeer(
                (int) ProcessHandle.current().pid(),
                () -> {
                    reached.countDown();
                    await(latch);
                });
        lastReached = reached;
        return latch;
    }

    /** Lets the queue go on by one turn of the task that waits in it, and occupies it again. */
    private CountDownLatch goOnInQueue(CountDownLatch occupied) {
        CountDownLatch next = occupyQueue();
        occupied.countDown();
        await(lastReached);
        return next;
    }

    private void goOn() {
        goOn.countDown();
        latches.forEach(CountDownLatch::countDown);
    }

    private void assertNothingLeft() {
        Await.until("not counted", () -> importer.mappedBytesOfPeers() == 0);
        if (!exporter.threads().closed()) { // whose thread counts the leases
            Await.until("not leased", () -> region.leases() == 0);
        }
        close();
        ResourceSnapshot.awaitAgain(before);
        Await.until("no thread", () -> countThreads() == 0);
    }

    private static long countThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("softdpu-mapper"))
                .count();
    }

    @ParameterizedTest
    @EnumSource
    void shouldLeaveNothingOfAnImportThatIsCancelled(Progress at) {
        beginImport(at);

        assertThat(importing.cancel(false)).isTrue();
        goOn();

        assertNothingLeft();
    }

    /** Who limits the imports that it has asked for counts one as long as this. */
    @ParameterizedTest
    @EnumSource
    void shouldFailAClosedImportWhenNothingOfItIsMappedAnyMore(Progress at) {
        beginImport(at);

        asked.close();
        SharedSegment page = SharedSegment.allocate("page", 1);
        assertThat(importer.connect("nobody", new byte[0], page, Patience.NANOS).future())
                .as("the bus thread has handled the close")
                .failsWithin(Patience.DEADLINE);
        page.release();
        assertThat(importing).as("a worker has not come to it").isNotDone();
        CompletableFuture<Long> mappedBytes =
                importing.handle((_, _) -> importer.mappedBytesOfPeers());
        goOn();

        assertThat(mappedBytes).succeedsWithin(Patience.DEADLINE).isEqualTo(0L);
        assertThat(importing).isCancelled();
        assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource
    void shouldLeaveNothingOfAnImportWhosePeerEnds(Progress at) throws Exception {
        beginImport(at);

        exporter.close();
        goOn();

        importing // it has the memory, whose peer is gone, or the failure
                .handle((imported, failure) -> {
                    if (imported != null) {
                        assertThat(imported.link().peerGone()).isTrue();
                        imported.close();
                    }
                    return null;
                })
                .get(Patience.SECONDS, TimeUnit.SECONDS);
        assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource
    void shouldLeaveNothingOfAnImportWhoseBusCloses(Progress at) throws Exception {
        beginImport(at);

        Thread closing = Thread.ofPlatform().start(importer::close);
        Await.until("closed", () -> importer.threads().closed());
        goOn();

        assertThat(importing)
                .failsWithin(Patience.LIMIT)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.kind()).isEqualTo(FabricException.Kind.CLOSED));
        closing.join(Patience.DEADLINE);
        assertNothingLeft();
    }

    /** In a process of its own, whose address space is limited after its start. */
    @StartsProcesses
    @Test
    void shouldLeaveNothingOfAnImportForWhichThereIsNoMemory(Processes processes) {
        SharedSegment large = SharedSegment.allocate("large", ExhaustedImporter.LARGE_BYTES);
        ExportedRegion ofLarge = exporter.export(large, true, null);
        ChildProcess child =
                processes.start(
                        JavaCommand.ofClass(ExhaustedImporter.class)
                                // Other arenas reserve more addresses than the limit leaves.
                                .withEnvironment("MALLOC_ARENA_MAX", "1")
                                .withArguments(
                                        folder.toString(),
                                        ExhaustedImporter.toText(ofLarge.address()),
                                        ExhaustedImporter.toText(region.address())));

        assertThat(child.awaitLine("^failed "))
                .matches("failed kind=NO_MEMORY, .*memory of a peer cannot be mapped: .*ENOMEM.*");
        child.awaitLine("^left mappedBytes=0, same=true$");
        Await.until("not leased", () -> ofLarge.leases() == 0);
        child.awaitLine("^small import mappedBytes=[1-9][0-9]*$");
        assertThat(child.awaitExit()).isZero();
        large.release();
        assertNothingLeft();
    }
}
