package io.softdpu.core.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.sync.wire.EventCounter;
import io.softdpu.core.sync.wire.HandlePage;
import io.softdpu.core.sync.wire.JoinRequest;
import io.softdpu.core.sync.wire.SyncEventBlob;
import io.softdpu.core.sync.wire.SyncEventBlob.Place;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Soak;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** CPU and DPU handles of one event, in two machines of one program. */
class SyncEventExportTest extends SyncEventFixture {

    // ---- export ----

    @Test
    @Clause({"core-176", "core-186", "core-199"})
    void shouldShareTheCounterBetweenItsHandles() {
        SyncEvent cpu = started();
        cpu.set(5);
        SyncEvent first = imported(cpu);
        SyncEvent second = imported(cpu).start();
        assertThat(first.isImported()).isTrue();
        assertThat(first.publisherLocation()).isEqualTo(SyncEventLocation.CPU);
        assertThat(first.subscriberLocation()).isEqualTo(SyncEventLocation.DPU);
        first.start();
        assertThat(first.get()).isEqualTo(5);
        assertThat(first.add(1)).isEqualTo(5);
        second.waitEqual(6, ALL);
        second.set(9);
        cpu.waitEqual(9, ALL);
        assertThat(cpu.exportPci(pf0)).isEqualTo(cpu.exportPci(pf0));
    }

    @Test
    @Clause("core-171")
    void shouldActOnTheEventThatAHandleWasObtainedFrom() {
        SyncEvent one = started();
        SyncEvent other = started();
        SyncEvent ofOne = imported(one).start();
        SyncEvent ofOther = imported(other).start();
        ofOne.set(1);
        ofOther.set(2);
        assertThat(one.get()).isEqualTo(1);
        assertThat(other.get()).isEqualTo(2);
    }

    @Test
    @Clause({"core-167", "core-168"})
    void shouldLetBothSidesUpdateAndWaitWhateverTheLocations() {
        for (SyncEventLocation publisher : List.of(SyncEventLocation.CPU, SyncEventLocation.DPU)) {
            SyncEvent cpu =
                    closedLater(
                            SyncEvent.create(pf0)
                                    .addPublisherLocation(publisher)
                                    .addSubscriberLocation(SyncEventLocation.DPU)
                                    .start());
            SyncEvent dpu = imported(cpu).start();
            cpu.set(1);
            dpu.waitGreater(0, ALL);
            dpu.set(2);
            cpu.waitGreater(1, ALL);
            assertThat(dpu.publisherLocation()).isEqualTo(publisher);
        }
    }

    /** Locations are hints: what they name has no more rights than what they do not. */
    @Test
    @Clause("core-281")
    void shouldLetEachHandleUpdateAndWaitInEachPairOfLocations() {
        List<SyncEventLocation> all = List.of(SyncEventLocation.CPU, SyncEventLocation.DPU);
        for (SyncEventLocation publisher : all) {
            for (SyncEventLocation subscriber : all) {
                SyncEvent cpu =
                        closedLater(
                                SyncEvent.create(pf0)
                                        .addPublisherLocation(publisher)
                                        .addSubscriberLocation(subscriber));
                cpu.start();
                if (publisher == SyncEventLocation.CPU && subscriber == SyncEventLocation.CPU) {
                    assertUpdatesAndWaits(cpu, cpu); // there is no other handle
                    continue;
                }
                SyncEvent dpu = imported(cpu).start();
                assertUpdatesAndWaits(cpu, dpu);
                assertUpdatesAndWaits(dpu, cpu);
                assertUpdatesAndWaits(cpu, cpu);
                assertUpdatesAndWaits(dpu, dpu);
            }
        }
    }

    private static void assertUpdatesAndWaits(SyncEvent updating, SyncEvent waiting) {
        updating.set(1);
        waiting.waitGreater(0, ALL);
        assertThat(waiting.get()).isEqualTo(1);
        assertThat(updating.add(2)).isEqualTo(1);
        waiting.waitGreater(2, ALL);
        assertThat(waiting.get()).isEqualTo(3);
    }

    @Test
    void shouldExportStartedEventsOnly() {
        SyncEvent event = configured();
        Thrown.with(Status.BAD_STATE, () -> event.exportPci(pf0))
                .hasMessageContaining("export needs a started event");
        event.start();
        assertThat(event.exportPci(pf0)).hasSize(SyncEventBlob.WIRE_BYTES);
        event.stop();
        Thrown.with(Status.BAD_STATE, () -> event.exportPci(pf0));
    }

    @Test
    void shouldExportEventsWithTheDpuAmongTheirLocationsOnly() {
        SyncEvent event =
                closedLater(
                        SyncEvent.create(pf0)
                                .addPublisherLocation(SyncEventLocation.CPU)
                                .addSubscriberLocation(SyncEventLocation.CPU)
                                .start());
        Thrown.with(Status.NOT_PERMITTED, () -> event.exportPci(pf0))
                .hasMessageContaining("publisher=CPU, subscriber=CPU");
    }

    @Test
    void shouldExportOnTheHostOnly() {
        SyncEvent event =
                closedLater(
                        SyncEvent.create(p0)
                                .addPublisherLocation(SyncEventLocation.CPU)
                                .addSubscriberLocation(SyncEventLocation.DPU)
                                .start());
        Thrown.with(Status.NOT_SUPPORTED, () -> event.exportPci(p0))
                .hasMessageContaining("side=dpu");
        SyncEvent ofHost = started();
        Thrown.with(Status.NOT_SUPPORTED, () -> ofHost.exportPci(p0));
        Device ofAnotherMachine = machines.device(Side.HOST, "pf0");
        Thrown.with(Status.NOT_PERMITTED, () -> ofHost.exportPci(ofAnotherMachine))
                .hasMessageContaining("another machine");
    }

    /** Locations, memory and further handles are a matter of the CPU handle alone. */
    @Test
    @Clause("core-170")
    void shouldRefuseToConfigureOrExportADpuHandle() {
        SyncEvent cpu = started();
        SyncEvent handle = imported(cpu);
        SharedMemory memory = machines.add(SharedMemory.allocate(8));
        for (boolean isStarted : new boolean[] {false, true}) {
            Thrown.with(
                            Status.NOT_PERMITTED,
                            () -> handle.addPublisherLocation(SyncEventLocation.CPU))
                    .hasMessageContaining("call is for the CPU handle");
            Thrown.with(
                    Status.NOT_PERMITTED,
                    () -> handle.addSubscriberLocation(SyncEventLocation.CPU));
            Thrown.with(Status.NOT_PERMITTED, () -> handle.setMemory(memory));
            Thrown.with(Status.NOT_PERMITTED, () -> handle.exportPci(p0));
            Thrown.with(Status.NOT_PERMITTED, () -> handle.exportRdma(p0));
            Thrown.with(Status.NOT_PERMITTED, () -> handle.exportDpa(p0));
            Thrown.with(Status.NOT_PERMITTED, () -> handle.exportGpu(p0));
            if (!isStarted) {
                handle.start();
            }
        }
        assertThat(handle.publisherLocation()).isEqualTo(SyncEventLocation.CPU);
        assertThat(handle.subscriberLocation()).isEqualTo(SyncEventLocation.DPU);
        handle.stop();
        handle.close();
        SyncEvent further = imported(cpu).start();
        further.set(1);
        assertThat(cpu.get()).as("lives on without that handle").isEqualTo(1);
    }

    @Test
    @Clause({"core-180", "core-181"})
    void shouldShareMemoryOfTheProgram() {
        SharedMemory memory = machines.add(SharedMemory.allocate(8));
        memory.segment().set(ValueLayout.JAVA_LONG, 0, 70);
        SyncEvent cpu = configured().setMemory(memory).start();
        SyncEvent dpu = imported(cpu).start();
        assertThat(dpu.add(1)).isEqualTo(70);
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(71);
        cpu.stop();
        cpu.close();
        SyncEvent next = configured().setMemory(memory);
        Thrown.with(Status.IN_USE, next::start)
                .hasMessageContaining("importers still hold this memory");
        dpu.stop();
        dpu.close();
        Await.until(
                "the memory is released",
                () -> {
                    try {
                        next.start();
                        return true;
                    } catch (DpuException e) {
                        return false;
                    }
                });
        assertThat(next.get()).isEqualTo(71);
    }

    @Test
    void shouldTakeAPageAndAnotherForEachHandle() throws Exception {
        long pageBytes = 4096;
        long before = sharedBytes();
        SyncEvent cpu = started();
        assertThat(sharedBytes() - before).as("alone").isEqualTo(pageBytes);
        byte[] blob = cpu.exportPci(pf0);
        assertThat(sharedBytes() - before).as("exported").isEqualTo(pageBytes);
        for (int handles = 1; handles <= 3; handles++) {
            closedLater(SyncEvent.createFromExport(blob, p0)).start();
            assertThat(sharedBytes() - before)
                    .as("with %d handles", handles)
                    .isEqualTo(pageBytes * (1 + handles));
        }
    }

    /** Bytes of the shared memory that this process has mapped, each memory once. */
    private static long sharedBytes() throws IOException {
        Map<String, Long> bytesByInode = new HashMap<>();
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            String[] fields = line.split(" +", 6); // range, rights, offset, device, inode, name
            if (fields.length == 6 && fields[5].startsWith("/memfd:")) {
                String[] range = fields[0].split("-", 2);
                long bytes =
                        Long.parseUnsignedLong(range[1], 16) - Long.parseUnsignedLong(range[0], 16);
                bytesByInode.merge(fields[4], bytes, Math::max);
            }
        }
        return bytesByInode.values().stream().mapToLong(Long::longValue).sum();
    }

    // ---- import ----

    @Test
    @Clause("core-176")
    void shouldRefuseEachBlobThatWasDamaged() {
        byte[] blob = started().exportPci(pf0);
        for (int at = 0; at < blob.length; at++) {
            byte[] changed = blob.clone();
            changed[at] ^= 0x10;
            Status expected =
                    at == 4 || at == 5 ? Status.UNSUPPORTED_VERSION : Status.INVALID_VALUE;
            Thrown.with(expected, () -> SyncEvent.createFromExport(changed, p0));
        }
        for (int length = 0; length < blob.length; length++) {
            byte[] cut = Arrays.copyOf(blob, length);
            Thrown.with(Status.INVALID_VALUE, () -> SyncEvent.createFromExport(cut, p0));
        }
    }

    @Test
    void shouldRefuseABlobOfAnotherKernelFolderTopologyOrKey() {
        SyncEventBlob good = SyncEventBlob.decode(started().exportPci(pf0));
        RegionAddress.Id other = new RegionAddress.Id(1, 2);
        Thrown.with(
                        Status.NOT_FOUND,
                        () -> join(good, other, good.fabricId(), good.topologySha256(), good.key()))
                .hasMessageContaining("another kernel");
        Thrown.with(
                        Status.NOT_FOUND,
                        () -> join(good, good.bootId(), other, good.topologySha256(), good.key()))
                .hasMessageContaining("another fabric folder");
        Thrown.with(
                        Status.BAD_CONFIG,
                        () -> join(good, good.bootId(), good.fabricId(), new byte[32], good.key()))
                .hasMessageContaining("another topology");
        Thrown.with(
                        Status.NOT_FOUND,
                        () ->
                                join(
                                        good,
                                        good.bootId(),
                                        good.fabricId(),
                                        good.topologySha256(),
                                        other))
                .hasMessageContaining("the key is wrong");
        join(good, good.bootId(), good.fabricId(), good.topologySha256(), good.key()).close();
    }

    private SyncEvent join(
            SyncEventBlob of,
            RegionAddress.Id bootId,
            RegionAddress.Id fabricId,
            byte[] topology,
            RegionAddress.Id key) {
        return SyncEvent.createFromExport(
                new SyncEventBlob(
                                Place.CPU,
                                Place.DPU,
                                bootId,
                                fabricId,
                                of.eventId(),
                                key,
                                topology,
                                of.interfaceName())
                        .encode(),
                p0);
    }

    @Test
    void shouldBeImportedByThePortThatMadeTheFunctionOnly() {
        byte[] blob = started().exportPci(pf0);
        Device p1 = machines.device(Side.DPU, "p1");
        Thrown.with(Status.NOT_PERMITTED, () -> SyncEvent.createFromExport(blob, p1))
                .hasMessageContaining("not the parent of the exporting one");
        Thrown.with(Status.NOT_PERMITTED, () -> SyncEvent.createFromExport(blob, pf0));
    }

    @Test
    void shouldNotBeImportedFromAnotherFolder() throws Exception {
        byte[] blob = started().exportPci(pf0);
        try (Machines elsewhere = new Machines(folder.resolve("elsewhere"))) {
            Device far = elsewhere.device(Side.DPU, "p0");
            Thrown.with(Status.NOT_FOUND, () -> SyncEvent.createFromExport(blob, far))
                    .hasMessageContaining("another fabric folder");
        }
    }

    @Test
    void shouldNotImportAnEventThatWasStoppedOrDestroyed() {
        SyncEvent event = started();
        byte[] blob = event.exportPci(pf0);
        SyncEvent dpu = imported(event).start();
        event.stop();
        Thrown.with(Status.NOT_FOUND, () -> SyncEvent.createFromExport(blob, p0));
        dpu.set(3); // handles go on until the close
        assertThat(dpu.get()).isEqualTo(3);
        event.close();
        Thrown.with(Status.NOT_FOUND, () -> SyncEvent.createFromExport(blob, p0));
    }

    /** The handshake of such a handle began before the name was released. */
    @Test
    void shouldRefuseAHandleThatArrivesWhenTheEventWasStopped() throws Exception {
        Bus bus = HandleImport.busOf(pf0);
        CpuHandle event =
                new CpuHandle(bus, SharedSegment.allocate("counter", EventCounter.BYTES), false);
        byte[] request = new JoinRequest(event.invite(ImportKind.DPU_HANDLE, 2).key()).encode();
        String name = "a name that goes on";
        Bus importer = HandleImport.busOf(p0);
        SharedSegment page = SharedSegment.allocate("page", HandlePage.BYTES);
        try (Endpoint _ = bus.listen(name, event)) {
            importer.release(
                    importer.connect(name, request, page, Patience.NANOS)
                            .future()
                            .get(Patience.SECONDS, TimeUnit.SECONDS));

            event.endInvitation();

            assertThat(importer.connect(name, request, page, Patience.NANOS).future())
                    .failsWithin(Patience.DEADLINE)
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOfSatisfying(
                            FabricException.class,
                            e -> assertThat(e.refusalCode()).isEqualTo(Status.NOT_FOUND.code()));
        } finally {
            importer.release(page);
            event.close();
        }
    }

    @Test
    void shouldHaveAsManyDpuHandlesAsTheDeviceAllows() throws Exception {
        int limit = 3;
        try (Machines limited = new Machines(folder.resolve("limited"))) {
            Topology topology = limited(SyncEventCapabilities.DPU_HANDLES_LIMIT, limit);
            Machine host = limited.add(open(limited, Side.HOST, topology));
            Machine card = limited.add(open(limited, Side.DPU, topology));
            Device function = limited.add(host.findDevice("pf0").open());
            Device port = limited.add(card.findDevice("p0").open());
            SyncEvent event =
                    SyncEvent.create(function)
                            .addPublisherLocation(SyncEventLocation.CPU)
                            .addSubscriberLocation(SyncEventLocation.DPU)
                            .start();
            byte[] blob = event.exportPci(function);
            List<SyncEvent> handles = new ArrayList<>();
            for (int i = 0; i < limit; i++) {
                handles.add(SyncEvent.createFromExport(blob, port));
            }
            Thrown.with(Status.FULL, () -> SyncEvent.createFromExport(blob, port))
                    .hasMessageContaining("handles=3, limit=3");
            handles.removeFirst().close();
            Await.until(
                    "one handle is free",
                    () -> {
                        try {
                            handles.add(SyncEvent.createFromExport(blob, port));
                            return true;
                        } catch (DpuException e) {
                            return false;
                        }
                    });
            handles.forEach(SyncEvent::close);
            event.stop();
            event.close();
        }
    }

    private static Machine open(Machines in, Side side, Topology topology) {
        return Machine.builder(side).topology(topology).fabricFolder(in.folder()).open();
    }

    // ---- end ----

    @Test
    @Clause({"core-203", "core-204"})
    void shouldEndItsDpuHandlesWithShutdown() throws Exception {
        SyncEvent event = started();
        SyncEvent idle = imported(event);
        SyncEvent waiting = imported(event).start();
        SyncEvent used = imported(event).start();
        CompletableFuture<Void> wait =
                CompletableFuture.runAsync(() -> waiting.waitGreaterYield(0, ALL));
        used.set(0);
        event.stop();
        long begin = System.nanoTime();
        event.close();
        Thrown.with(Status.SHUTDOWN, used::get).hasMessageContaining("destroyed");
        Thrown.with(Status.SHUTDOWN, () -> used.add(1));
        Thrown.with(Status.SHUTDOWN, idle::start);
        try {
            wait.get(Patience.SECONDS, TimeUnit.SECONDS);
            throw new AssertionError("wait has succeeded");
        } catch (ExecutionException e) {
            assertThat(((DpuException) e.getCause()).status()).isEqualTo(Status.SHUTDOWN);
        }
        System.out.printf(Locale.ROOT, "pending wait ended: nanos=%d%n", System.nanoTime() - begin);
    }

    @Test
    @Clause("core-199")
    void shouldCloseADpuHandleAlone() {
        SyncEvent event = started();
        SyncEvent closed = imported(event).start();
        SyncEvent open = imported(event).start();
        closed.set(4);
        Thrown.with(Status.IN_USE, closed::close);
        closed.stop();
        Thrown.with(Status.BAD_STATE, closed::start);
        closed.close();
        open.waitEqual(4, ALL);
        event.set(5);
        open.waitEqual(5, ALL);
    }

    /** The JVM interrupts a thread that accesses memory of which another closes the arena. */
    @Test
    void shouldNotInterruptAThreadThatUpdatesWhileHandlesLeave() throws Exception {
        SyncEvent event = configured();
        byte[] blob = event.start().exportPci(pf0);
        AtomicBoolean ended = new AtomicBoolean();
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread.ofPlatform()
                .start(() -> {
                    boolean seen = false;
                    while (!ended.get()) {
                        event.add(1);
                        seen |= Thread.interrupted();
                    }
                    interrupted.complete(seen);
                });
        for (int i = 0; i < Soak.count(300, 2_000, 50_000); i++) {
            SyncEvent leaving = SyncEvent.createFromExport(blob, p0).start();
            leaving.stop();
            leaving.close();
        }
        ended.set(true);
        assertThat(interrupted.get(Patience.SECONDS, TimeUnit.SECONDS)).isFalse();
    }
}
