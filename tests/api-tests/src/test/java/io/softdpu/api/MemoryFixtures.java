package io.softdpu.api;

import io.softdpu.api.Registry.Threads;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufArray;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.BufPool;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.MemoryFreeCallback;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.RdmaBridge;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.rdma.Rdma;
import java.util.List;

/** Memory, mmaps, inventories and bufs. */
final class MemoryFixtures {
    private MemoryFixtures() {}

    static void register(Registry registry) {
        registry.value(AccessFlag.class, AccessFlag.RDMA_READ);
        registry.value(Mapping.class, Mapping.ACCESS);
        registry.value(Mmap.State.class, Mmap.State.IDLE);
        registry.value(Permissions.class, FixtureScope.ALL);
        registry.unsupported(RdmaBridge.class);
        registry.add(
                SharedMemory.class,
                Threads.ANY,
                List.of("open", "in use", "closed"),
                MemoryFixtures::memory);
        registry.add(
                LocalMemory.class,
                Threads.ANY,
                List.of("open", "in use", "closed"),
                MemoryFixtures::localMemory);
        registry.add(
                Mmap.class,
                Threads.ANY,
                List.of(
                        "configured",
                        "created",
                        "started",
                        "exported",
                        "in use",
                        "stopped",
                        "imported",
                        "revoked",
                        "closed"),
                MemoryFixtures::mmap);
        registry.add(
                BufInventory.class,
                Threads.ONE_AT_A_TIME,
                List.of("started", "created", "in use", "stopped", "closed"),
                MemoryFixtures::inventory);
        registry.add(
                BufPool.class,
                Threads.ONE_AT_A_TIME,
                List.of("started", "created", "in use", "stopped", "closed"),
                MemoryFixtures::pool);
        registry.add(
                BufArray.class,
                Threads.ONE_AT_A_TIME,
                List.of("started", "created", "configured", "in use", "stopped", "closed"),
                MemoryFixtures::array);
        registry.value(BufArray.Target.class, BufArray.Target.CPU);
        registry.none(MemoryFreeCallback.class, "the user's own");
        registry.add(
                Buf.class,
                Threads.ONE_AT_A_TIME,
                List.of(
                        "handed out",
                        "retained",
                        "head of a list",
                        "behind a head",
                        "in flight",
                        "mmap stopped",
                        "released"),
                MemoryFixtures::buf);
    }

    private static SharedMemory memory(FixtureScope scope, String state) {
        SharedMemory memory = scope.memory();
        switch (state) {
            case "in use" -> start(scope, scope.keep(Mmap.create()).setMemory(memory));
            case "closed" -> memory.close();
            default -> {}
        }
        return memory;
    }

    private static LocalMemory localMemory(FixtureScope scope, String state) {
        LocalMemory memory = scope.keep(LocalMemory.allocate(4096));
        switch (state) {
            case "in use" -> start(scope, scope.keep(Mmap.create()).setMemory(memory));
            case "closed" -> memory.close();
            default -> {}
        }
        return memory;
    }

    private static void start(FixtureScope scope, Mmap mmap) {
        mmap.setPermissions(Permissions.LOCAL_READ_WRITE).addDevice(scope.environment.pf0).start();
    }

    private static Mmap mmap(FixtureScope scope, String state) {
        switch (state) {
            case "created" -> {
                return scope.keep(Mmap.create());
            }
            case "configured" -> { // all but its memory, of which it gets one
                return scope.keep(Mmap.create())
                        .setPermissions(FixtureScope.ALL)
                        .addDevice(scope.environment.pf0);
            }
            case "imported" -> {
                return scope.remoteMemory();
            }
            case "revoked" -> {
                Mmap exporter = scope.mmap(scope.environment.t0);
                byte[] blob = exporter.exportRdma(scope.environment.t0);
                Mmap imported = scope.keep(Mmap.createFromExport(blob, scope.environment.p0));
                exporter.stop();
                scope.until("revoked", () -> isRevoked(scope, imported));
                return imported;
            }
            default -> {}
        }
        Mmap mmap = scope.mmap(scope.environment.pf0);
        switch (state) {
            case "exported" -> {
                mmap.exportPci(scope.environment.pf0);
                mmap.exportRdma(scope.environment.pf0);
            }
            case "in use" -> scope.buf(mmap, 16, 0);
            case "stopped" -> mmap.stop();
            case "closed" -> mmap.close();
            default -> {}
        }
        return mmap;
    }

    private static boolean isRevoked(FixtureScope scope, Mmap imported) {
        try {
            imported.exportRdma(scope.environment.p0);
            return false;
        } catch (DpuException e) {
            return e.status() == Status.SHUTDOWN;
        }
    }

    private static BufInventory inventory(FixtureScope scope, String state) {
        BufInventory inventory = scope.keep(BufInventory.create(2));
        if (state.equals("created")) {
            return inventory;
        }
        inventory.start();
        switch (state) {
            case "in use" ->
                    scope.keep(inventory.bufByAddress(scope.mmap(scope.environment.pf0), 0, 16));
            case "stopped" -> inventory.stop();
            case "closed" -> inventory.close();
            default -> {}
        }
        return inventory;
    }

    private static BufPool pool(FixtureScope scope, String state) {
        BufPool pool = scope.keep(BufPool.create(2, 16, scope.mmap(scope.environment.pf0)));
        if (state.equals("created")) {
            return pool;
        }
        pool.start();
        switch (state) {
            case "in use" -> scope.keep(pool.allocate());
            case "stopped" -> pool.stop();
            case "closed" -> pool.close();
            default -> {}
        }
        return pool;
    }

    private static BufArray array(FixtureScope scope, String state) {
        BufArray array = scope.keep(BufArray.create(2));
        if (state.equals("created")) {
            return array;
        }
        array.setMemory(scope.mmap(scope.environment.pf0), 16, 0);
        if (state.equals("configured")) {
            return array;
        }
        array.start();
        switch (state) {
            case "in use" -> scope.keep(array.get(0)).retain();
            case "stopped" -> array.stop();
            case "closed" -> array.close();
            default -> {}
        }
        return array;
    }

    private static Buf buf(FixtureScope scope, String state) {
        if (state.equals("in flight")) {
            Rdma rdma = scope.link().near();
            Buf buf = scope.buf(scope.environment.p0, 64, 0);
            scope.keep(rdma.allocateReceive(buf)).submit();
            return buf;
        }
        Mmap mmap = scope.mmap(scope.environment.pf0);
        Buf buf = scope.buf(mmap, 64, 16);
        switch (state) {
            case "retained" -> buf.retain();
            case "head of a list" -> buf.chain(scope.buf(mmap, 16, 0));
            case "behind a head" -> scope.buf(mmap, 16, 0).chain(buf);
            case "mmap stopped" -> mmap.stop();
            case "released" -> buf.release();
            default -> {}
        }
        return buf;
    }
}
