package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.spi.Regions;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Configuration of an mmap before its start: devices, their limit, and the callback that frees the
 * memory.
 */
class MmapConfigurationTest {

    @TempDir Path folder;
    private Machines machines;
    private Machine host;
    private Device pf0;
    private Device vf;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        host = machines.open(Side.HOST);
        pf0 = machines.device(host, "pf0");
        vf = machines.device(host, "pf0vf0");
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private Mmap mmap(MemorySegment memory) {
        return machines.add(
                Mmap.create()
                        .setMemory(memory)
                        .setPermissions(Permissions.LOCAL_READ_WRITE)
                        .addDevice(pf0));
    }

    private Mmap mmap() {
        return mmap(MemorySegment.ofArray(new byte[16]));
    }

    // ---- devices ----

    @Test
    void shouldHaveNoMoreDevicesThanWasSaid() {
        Mmap mmap = mmap();
        assertThat(mmap.maxDevices()).isEqualTo(Mmap.DEFAULT_MAX_DEVICES);
        mmap.setMaxDevices(1);
        assertThat(mmap.maxDevices()).isEqualTo(1);
        Thrown.with(Status.NO_MEMORY, () -> mmap.addDevice(vf))
                .hasMessageContainingAll("maxDevices=1", "pf0vf0");
        assertThat(mmap.devices()).containsExactly(pf0);
        mmap.setMaxDevices(2).addDevice(vf);
        Thrown.with(Status.INVALID_VALUE, () -> mmap.setMaxDevices(1))
                .hasMessageContainingAll("maxDevices=1", "devices=2");
        Thrown.with(Status.INVALID_VALUE, () -> mmap.setMaxDevices(0));
        mmap.removeDevice(vf).setMaxDevices(1).start();
        assertThat(mmap.devices()).containsExactly(pf0);
    }

    @Test
    void shouldRefuseDevicesBeyondTheDefault() {
        Mmap mmap = mmap();
        List<Device> opened = new ArrayList<>();
        while (opened.size() < Mmap.DEFAULT_MAX_DEVICES - 1) {
            Device again = machines.device(host, "pf0");
            mmap.addDevice(again);
            opened.add(again);
        }
        Thrown.with(Status.NO_MEMORY, () -> mmap.addDevice(vf));
        mmap.close();
    }

    @Test
    void shouldChooseTheNumberOfDevicesBeforeTheFirstStart() {
        Mmap mmap = mmap().start();
        Thrown.with(Status.NOT_PERMITTED, () -> mmap.setMaxDevices(4))
                .hasMessageContaining("first start");
        mmap.stop();
        Thrown.with(Status.NOT_PERMITTED, () -> mmap.setMaxDevices(4));
        mmap.close();
        Thrown.with(Status.BAD_STATE, () -> mmap.setMaxDevices(4)).hasMessageContaining("closed");
    }

    @Test
    @Clause({"core-077", "core-071"})
    void shouldTakeAccessFromADeviceThatIsRemoved() {
        Mmap mmap = mmap().addDevice(vf).start();
        assertThat(Refusal.statusOf(Regions.checkUse(mmap, vf, Permissions.LOCAL_READ_WRITE)))
                .isEqualTo(Status.SUCCESS);
        Thrown.with(Status.BAD_STATE, () -> mmap.removeDevice(vf)).hasMessageContaining("started");
        mmap.stop();
        mmap.removeDevice(vf).start();
        assertThat(Refusal.statusOf(Regions.checkUse(mmap, vf, Permissions.LOCAL_READ_WRITE)))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(Refusal.statusOf(Regions.checkUse(mmap, pf0, Permissions.LOCAL_READ_WRITE)))
                .isEqualTo(Status.SUCCESS);
        vf.close(); // the mmap keeps it open no longer
        mmap.stop();
        Thrown.with(Status.NOT_FOUND, () -> mmap.removeDevice(vf));
    }

    @Test
    @Clause("core-077")
    void shouldTakeAccessFromTheFirstDeviceToo() {
        Mmap mmap = mmap().addDevice(vf);
        mmap.removeDevice(pf0).start();
        assertThat(mmap.devices()).containsExactly(vf);
        assertThat(Refusal.statusOf(Regions.checkUse(mmap, pf0, Permissions.LOCAL_READ_WRITE)))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(Refusal.statusOf(Regions.checkUse(mmap, vf, Permissions.LOCAL_READ_WRITE)))
                .isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldAnswerATaskWhileAnotherThreadChangesItsDevices() throws Exception {
        List<Device> more = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            more.add(machines.device(host, "pf0"));
        }
        Mmap mmap = mmap();
        more.forEach(mmap::addDevice);
        mmap.start();
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Long> looking = new CompletableFuture<>();
        Thread tasks =
                Thread.ofPlatform()
                        .start(() -> {
                            try {
                                looking.complete(useUntil(over, mmap));
                            } catch (Throwable e) {
                                looking.completeExceptionally(e);
                            }
                        });
        for (int i = 0; i < 5_000 && !looking.isDone(); i++) {
            mmap.stop();
            more.forEach(mmap::removeDevice);
            mmap.start();
            mmap.stop();
            more.forEach(mmap::addDevice);
            mmap.start();
        }
        over.set(true);
        assertThat(looking.get(Patience.SECONDS, TimeUnit.SECONDS)).isPositive();
        tasks.join();
    }

    /** Asks for a device that is never among them, so that all are looked at; how often. */
    private long useUntil(AtomicBoolean over, Mmap mmap) {
        long looks = 0;
        while (!over.get() || looks == 0) {
            Status status =
                    Refusal.statusOf(Regions.checkUse(mmap, vf, Permissions.LOCAL_READ_WRITE));
            assertThat(status).isIn(Status.NOT_PERMITTED, Status.BAD_STATE);
            looks++;
        }
        return looks;
    }

    // ---- permissions ----

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Clause({"core-071", "core-078", "core-079"})
    void shouldGrantWhatItsPermissionsSayAndNothingElse(boolean keptOpen) {
        Mmap mmap = mmap();
        if (keptOpen) { // the permissions are then checked in another place
            mmap = machines.add(Mmap.create().setMemory(local()).addDevice(pf0));
        }
        for (AccessFlag flag : List.of(AccessFlag.values()).reversed()) { // fewer and fewer
            if (flag == AccessFlag.PCI_RELAXED_ORDERING) {
                continue; // no right of its own
            }
            Permissions granted = Permissions.of(flag);
            mmap.setPermissions(granted).start();
            assertThat(mmap.permissions()).isEqualTo(granted);
            for (AccessFlag asked : AccessFlag.values()) {
                if (asked == AccessFlag.PCI_RELAXED_ORDERING) {
                    continue;
                }
                boolean implied =
                        asked == flag
                                || asked == AccessFlag.LOCAL_READ_ONLY
                                || (flag == AccessFlag.PCI_READ_WRITE
                                        && asked == AccessFlag.PCI_READ_ONLY);
                assertThat(Refusal.statusOf(Regions.checkUse(mmap, pf0, Permissions.of(asked))))
                        .as("%s of an mmap with %s", asked, flag)
                        .isEqualTo(implied ? Status.SUCCESS : Status.NOT_PERMITTED);
            }
            mmap.stop();
        }
    }

    @Test
    void shouldRefuseNoPermissionsAtAll() {
        Thrown.with(Status.INVALID_VALUE, () -> mmap().setPermissions(null))
                .hasMessageContaining("newPermissions");
    }

    // ---- memory ----

    private LocalMemory local() {
        return machines.add(LocalMemory.allocate(16));
    }

    @Test
    @Clause("core-065")
    void shouldTakeItsMemoryOnceWhateverItWas() {
        SharedMemory shared = machines.add(SharedMemory.allocate(16));
        LocalMemory local = local();
        MemorySegment segment = MemorySegment.ofArray(new byte[16]);
        List<Mmap> mmaps =
                List.of(
                        machines.add(Mmap.create().setMemory(shared)),
                        machines.add(Mmap.create().setMemory(local)),
                        machines.add(Mmap.create().setMemory(segment)));
        for (Mmap mmap : mmaps) {
            MemorySegment before = mmap.segment();
            Thrown.with(Status.BAD_STATE, () -> mmap.setMemory(shared))
                    .hasMessageContaining("has its memory already");
            Thrown.with(Status.BAD_STATE, () -> mmap.setMemory(local))
                    .hasMessageContaining("has its memory already");
            Thrown.with(Status.BAD_STATE, () -> mmap.setMemory(segment))
                    .hasMessageContaining("has its memory already");
            assertThat(mmap.segment()).isEqualTo(before);
            assertThat(mmap.sizeBytes()).isEqualTo(16);
        }
    }

    @Test
    @Clause("core-072")
    void shouldNeedNoRegistrationByTheProgram() {
        Mmap mmap = mmap().start();
        assertThat(Refusal.statusOf(Regions.checkUse(mmap, pf0, Permissions.LOCAL_READ_WRITE)))
                .isEqualTo(Status.SUCCESS);
        assertThat(List.of(Mmap.class.getMethods()))
                .as("ways to register memory")
                .noneMatch(
                        method -> method.getName().toLowerCase(Locale.ROOT).contains("register"));
    }

    // ---- the free callback ----

    @Test
    @Clause("core-076")
    void shouldHandItsMemoryToTheFreeCallbackAtItsEnd() {
        Arena arena = Arena.ofShared();
        MemorySegment memory = arena.allocate(64);
        List<MemorySegment> freed = new ArrayList<>();
        Mmap mmap =
                mmap(memory)
                        .setFreeCallback(segment -> {
                            freed.add(segment);
                            arena.close();
                        })
                        .start();
        Thrown.with(Status.BAD_STATE, () -> mmap.setFreeCallback(null));
        mmap.stop();
        assertThat(freed).as("a stop is not the end").isEmpty();
        mmap.start();
        Regions.retain(mmap);
        Thrown.with(Status.NOT_PERMITTED, mmap::close);
        assertThat(freed).as("refused").isEmpty();
        Regions.release(mmap);
        mmap.close();
        assertThat(freed).containsExactly(memory);
        assertThat(memory.scope().isAlive()).isFalse();
        mmap.close();
        assertThat(freed).as("once").hasSize(1);
    }

    @Test
    void shouldLetTheFreeCallbackCloseSharedMemory() {
        SharedMemory shared = SharedMemory.allocate(16);
        Mmap mmap =
                Mmap.create()
                        .setMemory(shared)
                        .setPermissions(Permissions.LOCAL_READ_WRITE)
                        .addDevice(pf0)
                        .setFreeCallback(memory -> shared.close())
                        .start();
        Thrown.with(Status.IN_USE, shared::close);
        mmap.close();
        Thrown.with(Status.BAD_STATE, shared::segment);
    }

    @Test
    void shouldCallTheLastFreeCallbackAndOnlyOfAnMmapThatWasStarted() {
        List<String> called = new ArrayList<>();
        Mmap never = mmap().setFreeCallback(memory -> called.add("never"));
        never.close();
        Mmap changed = mmap().setFreeCallback(memory -> called.add("first")).start();
        changed.stop();
        changed.setFreeCallback(memory -> called.add("second"));
        changed.close();
        Mmap cleared = mmap().setFreeCallback(memory -> called.add("cleared")).start();
        cleared.stop();
        cleared.setFreeCallback(null).close();
        assertThat(called).containsExactly("second");
    }

    @Test
    void shouldBeClosedEvenIfTheFreeCallbackThrows() {
        Mmap mmap =
                mmap().setFreeCallback(
                                memory -> {
                                    throw new IllegalStateException("cannot unmap");
                                })
                        .start();
        assertThatThrownBy(mmap::close).hasMessage("cannot unmap");
        assertThat(mmap.state()).isEqualTo(Mmap.State.CLOSED);
        mmap.close();
    }

    // ---- looking at it ----

    @Test
    void shouldTellWhetherItIsExported() {
        SharedMemory shared = machines.add(SharedMemory.allocate(4096));
        Mmap mmap =
                machines.add(
                        Mmap.create()
                                .setMemory(shared)
                                .setPermissions(
                                        Permissions.of(
                                                AccessFlag.LOCAL_READ_WRITE,
                                                AccessFlag.PCI_READ_WRITE))
                                .addDevice(pf0)
                                .start());
        assertThat(mmap.isExported()).isFalse();
        byte[] blob = mmap.exportPci(pf0);
        assertThat(mmap.isExported()).isTrue();
        Mmap imported = machines.add(Mmap.createFromExport(blob, machines.device(Side.DPU, "p0")));
        assertThat(imported.isExported()).isFalse();
        Thrown.with(Status.NOT_PERMITTED, () -> imported.setMaxDevices(2));
        Thrown.with(Status.BAD_STATE, () -> imported.setFreeCallback(null));
        Thrown.with(Status.BAD_STATE, () -> imported.addDevice(pf0));
        imported.close();
        mmap.stop();
        assertThat(mmap.isExported()).isFalse();
    }

    @Test
    void shouldTellHowManyUseIt() {
        Mmap mmap = mmap().start();
        BufInventory inventory = machines.add(BufInventory.create(2).start());
        Buf buf = inventory.bufByAddress(mmap, 0, 8);
        Regions.retain(mmap);
        assertThat(mmap.users()).isEqualTo(2);
        BufPool pool = machines.add(BufPool.create(1, 8, mmap).start());
        BufArray array = machines.add(BufArray.create(1).setMemory(mmap, 8, 0).start());
        Thrown.with(Status.NOT_PERMITTED, mmap::close)
                .hasMessageContainingAll(
                        "mmap is in use: users=4, bufs=1, pools=2, contexts=1, mmap=" + mmap,
                        "expected=release of its bufs");
        array.stop();
        pool.stop();
        Regions.release(mmap);
        Thrown.with(Status.NOT_PERMITTED, mmap::close)
                .hasMessageContaining("users=1, bufs=1, pools=0, contexts=0");
        buf.release();
        assertThat(mmap.users()).isZero();
        mmap.close();
        assertThat(mmap.users()).isZero();
    }
}
