package io.softdpu.comch;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LeakCheck;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Both sides of a card in one JVM: a machine, a device and an engine each, over one fabric folder.
 * One thread progresses both engines in turn. Objects created through it are closed in reverse
 * order.
 */
final class Card implements AutoCloseable {
    static final String NAME = "test server";

    private static final Duration BUS = Duration.ofMillis(1);
    private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    final Machine host;
    final Machine dpu;
    final Device pf0;
    final Device p0;
    final Representor hpf0;
    final ProgressEngine hostEngine;
    final ProgressEngine dpuEngine;
    private final LeakCheck leaks;
    private final List<ProgressEngine> engines = new ArrayList<>();
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    Card(Path folder) {
        this(folder, Topology.builtin());
    }

    /** A card with the devices of a topology, which may have lower limits. */
    Card(Path folder, Topology topology) {
        this(folder, topology, LeakCheck.begin(folder.resolve("fabric")));
    }

    /** A card whose fabric folder other processes use, too. */
    static Card shared(Path folder) {
        return new Card(folder, Topology.builtin(), LeakCheck.begin());
    }

    /** As {@link #shared(Path)}, with a limit of the DPU's mapped memory. */
    static Card shared(Path folder, long importedBytesLimit) {
        return new Card(folder, Topology.builtin(), LeakCheck.begin(), importedBytesLimit);
    }

    private Card(Path folder, Topology topology, LeakCheck leaks) {
        this(folder, topology, leaks, 4L << 30);
    }

    private Card(Path folder, Topology topology, LeakCheck leaks, long importedBytesLimit) {
        Path fabric = folder.resolve("fabric");
        this.leaks = leaks;
        host = keep(Machine.builder(Side.HOST).fabricFolder(fabric).topology(topology).open());
        dpu =
                keep(
                        Machine.builder(Side.DPU)
                                .fabricFolder(fabric)
                                .topology(topology)
                                .importedBytesLimit(importedBytesLimit)
                                .open());
        pf0 = keep(host.findDevice("pf0").open());
        p0 = keep(dpu.findDevice("p0").open());
        hpf0 = keep(p0.findRepresentor("hpf0").open());
        hostEngine = engine();
        dpuEngine = engine();
    }

    /** Another engine, progressed with the others. */
    ProgressEngine engine() {
        ProgressEngine engine = keep(ProgressEngine.create());
        engines.add(engine);
        return engine;
    }

    <T extends AutoCloseable> T keep(T resource) {
        open.push(resource);
        return resource;
    }

    /** Memory of a device that the other side may read and write, and bufs for it. */
    Memory memory(Device device, long sizeBytes) {
        return memory(
                device,
                sizeBytes,
                Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE));
    }

    Memory memory(Device device, long sizeBytes, Permissions permissions) {
        SharedMemory shared = keep(SharedMemory.allocate(sizeBytes));
        Mmap mmap = keep(Mmap.create());
        mmap.setMemory(shared).setPermissions(permissions).addDevice(device).start();
        BufInventory inventory = keep(BufInventory.create(4096));
        inventory.start();
        return new Memory(shared, mmap, inventory);
    }

    record Memory(SharedMemory shared, Mmap mmap, BufInventory inventory) {}

    /** Progresses all engines until a condition holds. */
    void until(String what, BooleanSupplier condition) {
        Await.byStep(
                what,
                condition,
                () -> {
                    if (!progressAll()) {
                        hostEngine.await(BUS); // another thread or process has its turn
                    }
                });
    }

    /**
     * Progresses all engines until none has had work for a while: in many passes, or in the time in
     * which the thread of the bus gets its turn on a processor that another program keeps busy.
     */
    void settle() {
        int idle = 0;
        long idleSince = 0;
        while (idle < 200 && (idle < 4 || System.nanoTime() - idleSince < TURN_NANOS)) {
            if (progressAll()) {
                idle = 0;
            } else if (idle++ == 0) {
                idleSince = System.nanoTime();
            }
            Thread.yield(); // to the thread of the bus, which a pass may depend on
        }
    }

    private boolean progressAll() {
        boolean worked = false;
        for (ProgressEngine engine : engines) {
            worked |= engine.progress();
        }
        return worked;
    }

    /** A server with one client, both running. */
    Pair pair() {
        return pair(NAME);
    }

    Pair pair(String name) {
        Peer server = Peer.server(this, name);
        Peer client = Peer.client(this, name);
        server.endpoint.start();
        client.endpoint.start();
        until("client runs", () -> client.endpoint.state() == ContextState.RUNNING);
        until("server has a connection", () -> server.connection != null);
        return new Pair(server, client);
    }

    record Pair(Peer server, Peer client) {}

    @Override
    public void close() throws Exception {
        stopAll();
        while (!open.isEmpty()) {
            open.pop().close();
        }
        leaks.assertNothingLeft();
    }

    private final List<Runnable> stops = new ArrayList<>();

    /** Runs before everything is closed, last first. */
    void atEnd(Runnable stop) {
        stops.add(stop);
    }

    private void stopAll() {
        for (int i = stops.size() - 1; i >= 0; i--) {
            stops.get(i).run();
        }
    }
}
