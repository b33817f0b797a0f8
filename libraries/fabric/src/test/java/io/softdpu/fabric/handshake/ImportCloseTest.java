package io.softdpu.fabric.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.Bus;
import io.softdpu.fabric.folder.FabricFolder;
import io.softdpu.fabric.folder.FabricPath;
import io.softdpu.fabric.memory.MappedBytes;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.BusIdentity;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.Exports;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.thread.BusThreads;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Imports that another thread closes while the bus thread is between two steps of one: what it has
 * is released once, by whichever of the two comes second.
 */
final class ImportCloseTest {
    private static final long SIZE_BYTES = 4096;
    private static final byte[] TOPOLOGY = new byte[32];

    /** Step of the bus thread at which the import is closed. */
    private enum Step {
        REPLY_CHECKED(ImportState.ASKED, 0),
        GRANTED(ImportState.LINKED, 0),
        OBJECT_MADE(ImportState.MAPPED, 1),
        OBJECT_HANDED_OVER(ImportState.HANDED_OVER, 1);

        private final ImportState state;
        private final int objects;

        Step(ImportState state, int objects) {
            this.state = state;
            this.objects = objects;
        }
    }

    @TempDir Path folder;
    private Bus exporter;
    private SharedSegment memory;
    private ExportedRegion region;
    private FabricFolder joined;
    private BusThreads threads;
    private MappedBytes mappedBytes;
    private Handshakes handshakes;
    private final CompletableFuture<Import<ImportedRegion>> begun = new CompletableFuture<>();
    private final CompletableFuture<ImportState> closedIn = new CompletableFuture<>();
    private final AtomicInteger made = new AtomicInteger();
    private final AtomicInteger released = new AtomicInteger();

    @BeforeEach
    void open() {
        exporter =
                Bus.open(
                        new Bus.Config(
                                folder.resolve("fabric"),
                                TOPOLOGY,
                                "t",
                                Patience.NANOS,
                                1 << 20,
                                Long.MAX_VALUE,
                                Long.MAX_VALUE));
        memory = SharedSegment.allocate("memory", SIZE_BYTES);
        region = exporter.export(memory, true, null);
        joined =
                FabricFolder.join(
                        FabricPath.of(folder.resolve("fabric")), TOPOLOGY, "t", Patience.NANOS);
        threads = new BusThreads(joined.path());
        threads.start();
        mappedBytes = new MappedBytes(Long.MAX_VALUE, Long.MAX_VALUE);
        handshakes =
                new Handshakes(
                        threads,
                        joined,
                        new Exports(threads, BusIdentity.create(joined.id())),
                        mappedBytes,
                        new Handshakes.Limits(Patience.NANOS, 1 << 20));
    }

    @AfterEach
    void close() {
        assertThat(threads.beginClose()).isTrue();
        threads.endWork();
        handshakes.end();
        threads.endClosing();
        joined.close();
        region.close();
        memory.release();
        exporter.close();
    }

    /** The import as the product makes it, which another thread closes at this step. */
    private Import<ImportedRegion> importing(Step at) {
        var address = region.address();
        Import<ImportedRegion> asked =
                new Import<>(
                        handshakes,
                        "bus:" + address.busId(),
                        new Frame.Lease(address.regionId(), address.key(), true),
                        null,
                        Patience.NANOS,
                        reply -> {
                            Import.Granted<ImportedRegion> granted =
                                    HandshakeReplies.grant(handshakes, address, true, true, reply);
                            if (at == Step.REPLY_CHECKED) {
                                closeByAnotherThread();
                            } else if (at == Step.GRANTED) { // before it is mapped
                                threads.loop().execute(this::closeByAnotherThread);
                            }
                            return counted(granted, at);
                        });
        var _ =
                asked.future()
                        .whenComplete((object, _) -> {
                            if (object != null && at == Step.OBJECT_HANDED_OVER) {
                                closeByAnotherThread();
                            }
                        });
        return asked;
    }

    /** Counts how often the object is made and released. */
    private Import.Granted<ImportedRegion> counted(
            Import.Granted<ImportedRegion> granted, Step at) {
        return new Import.Granted<>(
                granted.link(),
                granted.parts(),
                granted.unmapped(),
                mapped -> {
                    ImportedRegion object = granted.make().apply(mapped);
                    made.incrementAndGet();
                    if (at == Step.OBJECT_MADE) {
                        closeByAnotherThread();
                    }
                    return object;
                },
                object -> {
                    released.incrementAndGet();
                    granted.release().accept(object);
                });
    }

    /** On the bus thread, which goes on when the import was closed. */
    private void closeByAnotherThread() {
        Import<ImportedRegion> asked = get(begun);
        closedIn.complete(asked.state());
        Thread closing = Thread.ofPlatform().start(asked::close);
        try {
            closing.join(Patience.DEADLINE);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static <T> T get(CompletableFuture<T> future) {
        try {
            return future.get(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReleaseOnceWhatIsClosedAt(Step at) {
        Import<ImportedRegion> asked = importing(at);
        begun.complete(asked.begin());

        assertThat(get(closedIn)).isEqualTo(at.state);
        Await.until("ended", asked.future()::isDone);
        assertThat(asked.future().isCancelled()).isEqualTo(at != Step.OBJECT_HANDED_OVER);
        Await.until("the lease has ended", () -> region.leases() == 0);
        Await.until("not counted", () -> mappedBytes.allBytes() == 0);
        assertThat(List.of(made.get(), released.get())).containsExactly(at.objects, at.objects);
        assertThat(asked.state()).isEqualTo(ImportState.CLOSED);

        asked.close();

        assertThat(released).hasValue(at.objects);
    }
}
