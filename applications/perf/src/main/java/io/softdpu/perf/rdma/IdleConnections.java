package io.softdpu.perf.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.perf.child.ProcessMemory;
import io.softdpu.perf.pair.ResourceStack;
import io.softdpu.perf.pair.SideDevice;
import io.softdpu.perf.pair.TwoProcesses;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Memory of idle RDMA connections, both of whose ends are in this process, so that its resident
 * memory is that of both sides. Belongs to one thread.
 */
public final class IdleConnections implements AutoCloseable {
    /** Name of the memory of the ring of an end. */
    private static final String RING = "softdpu-rdma";

    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

    private final ResourceStack resources = new ResourceStack();
    private final ProgressEngine engine;
    private final Rdma host;
    private final Rdma dpu;

    /**
     * Resident memory.
     *
     * @param residentBytes of one more connection
     * @param ringBytes of its two rings
     */
    public record Figures(double residentBytes, long ringBytes) {}

    /**
     * Opens both sides.
     *
     * @param provider RDMA provider of both
     * @param connections number of connections that are to be made, and one that comes first
     */
    public IdleConnections(ComchPair pair, Path fabric, ProviderChoice provider, int connections) {
        engine = resources.keep(ProgressEngine.create());
        try {
            host = start(pair, fabric, provider, Side.HOST, connections + 1);
            dpu = start(pair, fabric, provider, Side.DPU, connections + 1);
        } catch (RuntimeException e) {
            resources.closeAfter(e);
            throw e;
        }
    }

    private Rdma start(
            ComchPair pair, Path fabric, ProviderChoice provider, Side side, int connections) {
        Device device = SideDevice.open(resources, side, pair, fabric, 0, null);
        Rdma rdma = Rdma.create(device);
        resources.keep(() -> stop(rdma));
        provider.set(rdma, device.info());
        rdma.setMaxConnections(connections).setConnectionCallback((_, _, _) -> {});
        engine.connect(rdma);
        rdma.start();
        return rdma;
    }

    private void stop(Rdma rdma) {
        engine.stop(rdma, STOP_TIMEOUT);
        rdma.close();
    }

    /**
     * Connects, and measures what that has added to the memory of the process.
     *
     * @throws DpuException TIME_OUT if they are not connected in time
     */
    public Figures measure(int connections) {
        connect(1); // what the first loads and allocates is no connection's
        long before = residentBytes();
        long ringsBefore = ProcessMemory.mappedBytes(RING);
        connect(connections);
        long rings = ProcessMemory.mappedBytes(RING) - ringsBefore;
        double resident = (double) (residentBytes() - before) / connections;
        return new Figures(resident, rings / 2 / connections); // both ends map both rings
    }

    private static long residentBytes() {
        System.gc();
        return ProcessMemory.proportionalBytes();
    }

    private void connect(int count) {
        List<RdmaConnection> ends = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            RdmaConnection here = host.exportConnection();
            RdmaConnection there = dpu.exportConnection();
            host.connect(there.blob(), here);
            dpu.connect(here.blob(), there);
            ends.add(here);
            ends.add(there);
        }
        long deadline = System.nanoTime() + TwoProcesses.STEP_NANOS;
        while (!ends.stream().allMatch(end -> end.state() == RdmaConnection.State.CONNECTED)) {
            engine.progress();
            if (System.nanoTime() - deadline > 0) {
                throw new DpuException(
                        Status.TIME_OUT,
                        Text.format(
                                "idle connections are not connected: connections=%d,"
                                        + " waitedMillis=%d",
                                count, TimeUnit.NANOSECONDS.toMillis(TwoProcesses.STEP_NANOS)));
            }
        }
    }

    @Override
    public void close() {
        resources.close();
    }
}
