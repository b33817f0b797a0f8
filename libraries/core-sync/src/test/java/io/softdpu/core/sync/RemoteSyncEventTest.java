package io.softdpu.core.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.resource.ResourceTracking;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.Regions;
import io.softdpu.core.spi.memory.AccessBatches;
import io.softdpu.core.spi.memory.DomainAccess;
import io.softdpu.core.spi.memory.GrantedMemory;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.core.sync.spi.RemoteEvents;
import io.softdpu.core.sync.wire.RemoteEventBlob;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LeakCheck;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Exports of sync events for RDMA, and remote events as a transport and its tasks use them. */
class RemoteSyncEventTest extends SyncEventFixture {
    private Device t0;

    @BeforeEach
    void openTarget() {
        t0 = machines.device(Side.TARGET, "t0");
    }

    /** An event of the DPU for RDMA peers, not started; stopped and closed with the test. */
    private SyncEvent ofPeers() {
        return closedLater(
                SyncEvent.create(p0)
                        .addPublisherLocation(SyncEventLocation.REMOTE)
                        .addSubscriberLocation(SyncEventLocation.CPU));
    }

    private RemoteSyncEvent remote(SyncEvent event) {
        return machines.add(RemoteSyncEvent.createFromExport(event.exportRdma(event.device()), t0));
    }

    /** As a task and a transport do that set the counter. */
    private static void set(RemoteSyncEvent event, long value) {
        assertThat(RemoteEvents.mark(event, event.device())).isNull();
        RemoteMemory counter = RemoteEvents.counterOf(event);
        Objects.requireNonNull(counter.memory()).set(ValueLayout.JAVA_LONG, 0, value);
        counter.changed();
        RemoteEvents.clear(event);
    }

    private static Status statusOf(Refusal refusal) {
        return refusal == null ? Status.SUCCESS : refusal.status();
    }

    @ParameterizedTest
    @EnumSource
    void shouldShareTheCounterFromEachSide(Side side) {
        Device exporting =
                switch (side) {
                    case HOST -> pf0;
                    case DPU -> p0;
                    case TARGET -> t0;
                };
        SyncEvent event =
                closedLater(
                        SyncEvent.create(exporting)
                                .addPublisherLocation(SyncEventLocation.CPU)
                                .addSubscriberLocation(SyncEventLocation.REMOTE)
                                .start());
        RemoteSyncEvent remote = remote(event);
        set(remote, 7);
        assertThat(event.get()).isEqualTo(7);
        RemoteMemory counter = RemoteEvents.counterOf(remote);
        assertThat(Objects.requireNonNull(counter.memory()).byteSize()).isEqualTo(8);
        assertThat(counter.checkAlive()).isNull();
        assertThat(remote.device()).isSameAs(t0);
    }

    @Test
    void shouldWakeAThreadThatSleeps() {
        SyncEvent event = ofPeers();
        SyncEventContext context = event.asContext();
        context.start();
        RemoteSyncEvent remote = remote(event);
        for (long i = 0; i < 100; i++) {
            QueueWaiter waiter = QueueWaiter.sleep(context, i);
            set(remote, i + 1);
            assertThat(waiter.value()).isEqualTo(i + 1);
        }
    }

    @Test
    void shouldExportForThoseWhoseLocationItHas() {
        SyncEvent both =
                closedLater(
                        SyncEvent.create(pf0)
                                .addPublisherLocation(SyncEventLocation.REMOTE)
                                .addSubscriberLocation(SyncEventLocation.DPU)
                                .start());
        SyncEvent handle = imported(both);
        assertThat(handle.publisherLocation()).isEqualTo(SyncEventLocation.REMOTE);
        assertThat(handle.subscriberLocation()).isEqualTo(SyncEventLocation.DPU);
        set(remote(both), 3);
        assertThat(handle.start().get()).isEqualTo(3);
        Thrown.with(Status.NOT_PERMITTED, () -> handle.exportRdma(p0));
        SyncEvent ofDpu = started();
        Thrown.with(Status.NOT_PERMITTED, () -> ofDpu.exportRdma(pf0))
                .hasMessageContaining("REMOTE is not among the locations");
        SyncEvent ofPeers = ofPeers().start();
        Device ofAnotherMachine = machines.device(Side.DPU, "p0");
        Thrown.with(Status.NOT_PERMITTED, () -> ofPeers.exportRdma(ofAnotherMachine))
                .hasMessageContaining("another machine");
    }

    @Test
    void shouldExportStartedEventsOnly() {
        SyncEvent event = ofPeers();
        Thrown.with(Status.BAD_STATE, () -> event.exportRdma(p0))
                .hasMessageContaining("export needs a started event");
        event.start();
        byte[] blob = event.exportRdma(p0);
        assertThat(event.exportRdma(p0)).isEqualTo(blob);
        event.stop();
        Thrown.with(Status.BAD_STATE, () -> event.exportRdma(p0));
        Thrown.with(Status.NOT_FOUND, () -> RemoteSyncEvent.createFromExport(blob, t0));
    }

    @Test
    void shouldNotTakeMemoryOfTheProgram() {
        SharedMemory memory = machines.add(SharedMemory.allocate(8));
        SyncEvent event = ofPeers().setMemory(memory);
        Thrown.with(Status.NOT_PERMITTED, event::start)
                .hasMessageContaining("publisher=REMOTE, subscriber=CPU");
    }

    @Test
    void shouldJoinWithTheTopologyAndTheKeyOnly() {
        SyncEvent event =
                closedLater(
                        SyncEvent.create(pf0)
                                .addPublisherLocation(SyncEventLocation.REMOTE)
                                .addSubscriberLocation(SyncEventLocation.DPU)
                                .start());
        event.exportPci(pf0);
        RemoteEventBlob good = RemoteEventBlob.decode(event.exportRdma(pf0));
        Bus bus = HandleImport.busOf(pf0);
        assertThat(good.busId()).isEqualTo(bus.busId());
        RegionAddress.Id other = new RegionAddress.Id(1, 2);
        byte[] hash = good.topologyDigest();
        hash[0] ^= 1;
        assertRefused(Status.NOT_FOUND, of(good, good.bootId(), good.fabricId(), other, null));
        assertRefused(
                Status.BAD_CONFIG, of(good, good.bootId(), good.fabricId(), good.key(), hash));
        assertRefused(Status.INVALID_VALUE, event.exportPci(pf0));
        Thrown.with(
                Status.INVALID_VALUE, () -> SyncEvent.createFromExport(event.exportRdma(pf0), p0));
    }

    /** Without a request: the blob alone says how packets name the counter. */
    @Test
    void shouldBeImportedByItsKeyFromAnotherKernelOrFolder() throws Exception {
        SyncEvent event = ofPeers().start();
        RemoteEventBlob good = RemoteEventBlob.decode(event.exportRdma(p0));
        RegionAddress.Id other = new RegionAddress.Id(1, 2);
        byte[] elsewhere = new byte[RemoteEventBlob.DIGEST_BYTES];
        LeakCheck before = LeakCheck.begin(folder);
        for (byte[] blob :
                List.of(
                        of(good, other, good.fabricId(), other, null),
                        of(good, good.bootId(), other, other, elsewhere))) {
            RemoteSyncEvent remote = RemoteSyncEvent.createFromExport(blob, t0);

            assertThat(RemoteEvents.mark(remote, t0)).isNull();
            RemoteMemory counter = RemoteEvents.counterOf(remote);
            assertThat(BusServices.isOnBus(counter)).isFalse();
            assertThat(BusServices.exporterOf(counter)).isEqualTo(good.busId());
            assertThat(counter.memory()).isNull();
            assertThat(counter.key()).isEqualTo(good.remoteKey());
            assertThat(counter.address()).isEqualTo(good.address());
            assertThat(counter.isOf(p0.info().function().gid())).isTrue();
            assertThat(counter.isOf(t0.info().function().gid())).isFalse();
            assertThat(counter.checkAlive()).isNull();
            counter.changed();
            Thrown.with(Status.IN_USE, remote::close);
            RemoteEvents.clear(remote);
            remote.close();
            assertThat(statusOf(RemoteEvents.mark(remote, t0))).isEqualTo(Status.BAD_STATE);
        }
        before.assertNothingLeft();
        assertThat(event.get()).isZero();
    }

    /** As an adapter does that executes the operations of a peer, found by what the blob names. */
    private static boolean execute(Device device, RemoteEventBlob blob, long value) {
        AccessBatches batches = new AccessBatches("adapter");
        try (DomainAccess access = Regions.domainOf(device).attach(batches)) {
            batches.begin();
            GrantedMemory counter =
                    access.find(
                            blob.remoteKey(),
                            blob.address(),
                            Long.BYTES,
                            AccessFlag.RDMA_WRITE.bit());
            if (counter != null) {
                counter.memory().set(ValueLayout.JAVA_LONG, 0, value);
                counter.changed();
            }
            batches.end();
            return counter != null;
        }
    }

    @Test
    void shouldBeFoundByItsKeyUntilTheClose() {
        SyncEvent event = ofPeers().start();
        RemoteEventBlob blob = RemoteEventBlob.decode(event.exportRdma(p0));
        Device p1 = machines.device(p0.machine(), "p1");

        assertThat(execute(p0, blob, 5)).isTrue();
        assertThat(event.get()).isEqualTo(5);
        assertThat(execute(p1, blob, 6)).as("of a device that has not exported it").isFalse();
        RemoteEventBlob ofOther = RemoteEventBlob.decode(event.exportRdma(p1));
        assertThat(ofOther.remoteKey()).isNotEqualTo(blob.remoteKey());
        assertThat(execute(p1, ofOther, 7)).isTrue();
        event.stop();
        assertThat(execute(p0, blob, 8)).as("as remote events that have joined").isTrue();
        event.close();
        assertThat(execute(p0, blob, 9)).isFalse();
        assertThat(execute(p1, ofOther, 9)).isFalse();
    }

    @Test
    void shouldWakeAThreadThatSleepsByItsKey() {
        SyncEvent event = ofPeers();
        SyncEventContext context = event.asContext();
        context.start();
        RemoteEventBlob blob = RemoteEventBlob.decode(event.exportRdma(p0));
        for (long i = 0; i < 100; i++) {
            QueueWaiter waiter = QueueWaiter.sleep(context, i);
            assertThat(execute(p0, blob, i + 1)).isTrue();
            assertThat(waiter.value()).isEqualTo(i + 1);
        }
    }

    /** The thread of another process: it waits by a DPU handle. */
    @Test
    void shouldWakeAHandleThatSleepsByItsKey() {
        SyncEvent event =
                closedLater(
                        SyncEvent.create(pf0)
                                .addPublisherLocation(SyncEventLocation.REMOTE)
                                .addSubscriberLocation(SyncEventLocation.DPU)
                                .start());
        SyncEventContext handle = imported(event).asContext();
        handle.start();
        RemoteEventBlob blob = RemoteEventBlob.decode(event.exportRdma(pf0));
        for (long i = 0; i < 100; i++) {
            QueueWaiter waiter = QueueWaiter.sleep(handle, i);
            assertThat(execute(pf0, blob, i + 1)).isTrue();
            assertThat(waiter.value()).isEqualTo(i + 1);
        }
    }

    @Test
    void shouldGiveBackWhatARemoteEventAndARefusedOneHold() {
        RemoteEventBlob good = RemoteEventBlob.decode(ofPeers().start().exportRdma(p0));
        createAndRefuse(good); // whatever is made once in a JVM
        LeakCheck before = LeakCheck.begin(folder);
        for (int i = 0; i < 20; i++) {
            createAndRefuse(good);
        }
        before.assertNothingLeft();
    }

    private void createAndRefuse(RemoteEventBlob good) {
        try (RemoteSyncEvent remote = RemoteSyncEvent.createFromExport(good.encode(), t0)) {
            set(remote, 1);
        }
        RegionAddress.Id wrong = new RegionAddress.Id(1, 2);
        assertRefused(Status.NOT_FOUND, of(good, good.bootId(), good.fabricId(), wrong, null));
    }

    private static byte[] of(
            RemoteEventBlob good,
            RegionAddress.Id bootId,
            RegionAddress.Id fabricId,
            RegionAddress.Id key,
            byte[] hash) {
        return new RemoteEventBlob(
                        good.side(),
                        bootId,
                        fabricId,
                        good.busId(),
                        good.eventId(),
                        key,
                        hash == null ? good.topologyDigest() : hash,
                        good.address(),
                        good.remoteKey(),
                        good.gid(),
                        good.interfaceName())
                .encode();
    }

    private void assertRefused(Status expected, byte[] blob) {
        Thrown.with(expected, () -> RemoteSyncEvent.createFromExport(blob, t0));
    }

    @Test
    void shouldHaveAsManyRemoteEventsAsTheDeviceAllowsBesideTheHandles() throws Exception {
        try (Machines limited = new Machines(folder.resolve("limited"))) {
            var topology = limited(SyncEventCapabilities.REMOTE_EVENTS_LIMIT, 2);
            Machine host =
                    limited.add(
                            Machine.builder(Side.HOST)
                                    .fabricFolder(limited.folder())
                                    .topology(topology)
                                    .open());
            Machine card =
                    limited.add(
                            Machine.builder(Side.DPU)
                                    .fabricFolder(limited.folder())
                                    .topology(topology)
                                    .open());
            Device function = limited.device(host, "pf0");
            Device port = limited.device(card, "p0");
            assertThat(SyncEventCapabilities.of(function.info()).maxRemoteEvents()).isEqualTo(2);
            SyncEvent event =
                    SyncEvent.create(function)
                            .addPublisherLocation(SyncEventLocation.REMOTE)
                            .addSubscriberLocation(SyncEventLocation.DPU)
                            .start();
            byte[] blob = event.exportRdma(function);
            List<RemoteSyncEvent> remotes = new ArrayList<>();
            remotes.add(RemoteSyncEvent.createFromExport(blob, port));
            remotes.add(RemoteSyncEvent.createFromExport(blob, port));
            Thrown.with(Status.FULL, () -> RemoteSyncEvent.createFromExport(blob, port))
                    .hasMessageContaining("kind=REMOTE_EVENT, handles=2, limit=2");
            SyncEvent handle = SyncEvent.createFromExport(event.exportPci(function), port);
            remotes.removeFirst().close();
            Await.until(
                    "one place is free",
                    () -> {
                        try {
                            remotes.add(RemoteSyncEvent.createFromExport(blob, port));
                            return true;
                        } catch (DpuException e) {
                            assertThat(e.status()).isEqualTo(Status.FULL);
                            return false;
                        }
                    });
            remotes.forEach(RemoteSyncEvent::close);
            handle.close();
            event.stop();
            event.close();
        }
    }

    @Test
    void shouldEndWithTheEvent() {
        SyncEvent event = ofPeers().start();
        RemoteSyncEvent remote = remote(event);
        event.stop();
        set(remote, 4);
        assertThat(RemoteEvents.mark(remote, t0)).isNull();
        RemoteMemory counter = RemoteEvents.counterOf(remote);
        event.close();
        Refusal ended = counter.checkAlive();
        assertThat(statusOf(ended)).isEqualTo(Status.SHUTDOWN);
        Thrown.with(Status.IN_USE, remote::close).hasMessageContaining("tasks=1");
        RemoteEvents.clear(remote);
        assertThat(statusOf(RemoteEvents.mark(remote, t0))).isEqualTo(Status.SHUTDOWN);
        remote.close();
        assertThat(statusOf(RemoteEvents.mark(remote, t0))).isEqualTo(Status.BAD_STATE);
    }

    @Test
    void shouldBeForItsDeviceAlone() {
        RemoteSyncEvent remote = remote(ofPeers().start());
        assertThat(statusOf(RemoteEvents.mark(remote, p0))).isEqualTo(Status.NOT_PERMITTED);
        remote.close(); // not marked
    }

    @Test
    void shouldKeepItsDeviceOpenAndBeTracked() {
        SyncEvent event = ofPeers().start();
        Device device = machines.open(Side.TARGET).findDevice("t0").open();
        try (ResourceTracking tracking = ResourceTracking.start()) {
            RemoteSyncEvent remote = RemoteSyncEvent.createFromExport(event.exportRdma(p0), device);
            assertThat(tracking.open()).anyMatch(each -> each.kind().equals("sync-event"));
            Thrown.with(Status.IN_USE, device::close).hasMessageContaining("remote sync event");
            remote.close();
            assertThat(tracking.open()).noneMatch(each -> each.kind().equals("sync-event"));
        }
        device.close();
    }
}
