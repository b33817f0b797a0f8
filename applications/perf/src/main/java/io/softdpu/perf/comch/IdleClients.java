package io.softdpu.perf.comch;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchSendTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.perf.child.ProcessMemory;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.Latencies;
import io.softdpu.perf.pair.Percentiles;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.perf.result.MachineUse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The host's part in a measurement of idle connections: connects as many clients as the plan says,
 * one after the other, and again until the time is over; then sleeps as long. Belongs to the host's
 * thread.
 */
final class IdleClients {
    /** Name of the memory of a ring of the basic path. */
    private static final String RING = "softdpu-comch-queue";

    private final ComchSide side;
    private final ComchPlan plan;
    private final Latencies latencies = new Latencies();
    private final List<ComchClient> clients = new ArrayList<>();
    private @Nullable String answer;
    private long connects;

    IdleClients(ComchSide side) {
        this.side = side;
        plan = side.plan;
    }

    /** Measures connecting and then resting, each after as long a time that is not measured. */
    PerfRun<ComchFigures> run() {
        side.keep(this::closeClients);
        connectUntil(System.nanoTime() + plan.nanos());
        closeClients();
        byte[] export = plan.importBytes() > 0 ? exported() : null;
        long before = residentBytes();
        long ringsBefore = ProcessMemory.mappedBytes(RING);
        latencies.reset();
        connects = 0;
        if (export != null) {
            beginImports(export);
        }
        connectUntil(System.nanoTime() + plan.nanos());
        Percentiles connecting = Objects.requireNonNull(latencies.percentiles(), "connected");
        MachineUse.now();
        dpuUse(); // as below, so that the classes are loaded
        ResourceUse.now();
        rest(System.nanoTime() + plan.nanos()); // what connecting had the JVM compile
        OptionalLong machineBefore = MachineUse.now();
        ResourceUse dpuBefore = dpuUse();
        ResourceUse hostBefore = ResourceUse.now();
        rest(System.nanoTime() + plan.nanos());
        ResourceUse host = ResourceUse.now().since(hostBefore);
        ResourceUse dpu = dpuUse().since(dpuBefore);
        double others = MachineUse.othersProcessors(machineBefore, host, dpu);
        long imports = export == null ? 0 : endImports();
        double resident = (double) (residentBytes() - before) / plan.clients();
        long rings = (ProcessMemory.mappedBytes(RING) - ringsBefore) / plan.clients();
        IdleFigures figures = new IdleFigures(connects, connecting, resident, rings, imports);
        return new PerfRun<>(
                0, 0, null, host, dpu, others, null, new ComchFigures(List.of(), figures));
    }

    /** Takes an answer of the DPU. */
    void receivedControl(String message) {
        answer = message;
    }

    // ---- connections

    /**
     * Connects all clients, and again until a moment is over; they are connected afterwards.
     *
     * <p>Garbage is collected each time, while none is connected: garbage of as many connections as
     * time allows would touch pages that no connection needs.
     */
    private void connectUntil(long endNanos) {
        connectAll();
        while (System.nanoTime() - endNanos < 0) {
            closeClients();
            residentBytes();
            connectAll();
        }
    }

    private void connectAll() {
        while (clients.size() < plan.clients()) {
            ComchClient client =
                    ComchClient.create(side.device, IdleServer.NAME)
                            .setConnectTimeout(Duration.ofNanos(plan.deadlineNanos()))
                            .setSendTasks(1, ComchSendTask::free, ComchSendTask::free)
                            .setMessageCallback((_, _) -> {});
            clients.add(client);
            side.engine.connect(client);
            long begin = System.nanoTime();
            client.start();
            side.until("idle client is connected", () -> isConnected(client));
            latencies.record(System.nanoTime() - begin);
            connects++;
        }
    }

    private static boolean isConnected(ComchClient client) {
        DpuException failure = client.failure();
        if (failure != null) {
            throw failure;
        }
        return client.state() == ContextState.RUNNING;
    }

    private void closeClients() {
        clients.forEach(ComchClient::stop);
        if (!side.isClosing()) {
            side.until(
                    "idle clients are disconnected",
                    () -> clients.stream().allMatch(client -> client.state() == ContextState.IDLE));
        }
        clients.forEach(client -> {
            if (side.isClosing()) {
                side.stop(client);
            } else {
                client.close();
            }
        });
        clients.clear();
    }

    // ---- questions to the DPU

    /** Proportional resident bytes of both processes, without garbage. */
    private long residentBytes() {
        long dpu = ComchSide.numberIn(ask(IdleServer.ASK_MEMORY), IdleServer.MEMORY);
        System.gc();
        return dpu + ProcessMemory.proportionalBytes();
    }

    private ResourceUse dpuUse() {
        String told = ask(IdleServer.ASK_USE);
        return ResourceUse.parse(told)
                .orElseThrow(() -> ComchSide.unexpected(told, "resources: ...", null));
    }

    private void beginImports(byte[] export) {
        String told = ask(IdleServer.IMPORT + Base64.getEncoder().encodeToString(export));
        if (!told.equals(IdleServer.IMPORTING)) {
            throw ComchSide.unexpected(told, IdleServer.IMPORTING, null);
        }
    }

    private long endImports() {
        return ComchSide.numberIn(ask(IdleServer.END_IMPORTS), IdleServer.IMPORTED);
    }

    private String ask(String question) {
        answer = null;
        side.sendControl(question);
        side.until(() -> "answer of the DPU, question=" + question, () -> answer != null);
        return Objects.requireNonNull(answer, "awaited");
    }

    // ---- the rest

    /** Memory of this process, exported to the DPU. */
    private byte[] exported() {
        SharedMemory memory = side.keep(SharedMemory.allocate(plan.importBytes()));
        Mmap mmap = side.keep(Mmap.create());
        mmap.setMemory(memory)
                .setPermissions(
                        Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE))
                .addDevice(side.device)
                .start();
        return mmap.exportPci(side.device);
    }

    /** Sleeps until a moment; what comes meanwhile ends one sleep. */
    private void rest(long endNanos) {
        long left = endNanos - System.nanoTime();
        while (left > 0) {
            side.sleep(left);
            side.checkPeer();
            left = endNanos - System.nanoTime();
        }
    }
}
