package io.softdpu.api;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchConnectionCallback;
import io.softdpu.comch.ComchServer;
import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyJob;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.linux.EventFd;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.testkit.Patience;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Engines, peers and memory for the test of one object. Closing it stops and closes all of them,
 * which fails if a misuse has left an object unusable: a task that cannot be freed, a context that
 * does not stop.
 */
final class FixtureScope implements AutoCloseable {
    static final Permissions ALL =
            Permissions.of(
                    AccessFlag.LOCAL_READ_WRITE,
                    AccessFlag.PCI_READ_WRITE,
                    AccessFlag.RDMA_READ,
                    AccessFlag.RDMA_WRITE,
                    AccessFlag.RDMA_ATOMIC);

    static final long MEMORY_BYTES = 64 << 10;

    /** Longest wait for the event of an engine, since the scope may have several. */
    private static final Duration REST = Duration.ofMillis(1);

    final Environment environment;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final Set<Object> known = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<ProgressEngine> engines = new ArrayList<>();
    private final List<Context> contexts = new ArrayList<>();
    private final List<Task> tasks = new ArrayList<>();
    private final List<Buf> bufs = new ArrayList<>();
    private final List<GraphInstance> instances = new ArrayList<>();
    private final GraphFixtures graphs = new GraphFixtures(this);
    private final Map<WorkQueue, Dma> queues = new IdentityHashMap<>();
    private @Nullable ProgressEngine engine;
    private @Nullable Pair firstPair;
    private static final AtomicInteger LAST_PORT = new AtomicInteger(1000);

    private @Nullable Link firstLink;
    private @Nullable Dma queuedDma;
    private @Nullable RdmaConnection exported;
    private byte @Nullable [] peerBlob;

    FixtureScope(Environment environment) {
        this.environment = environment;
    }

    // ---- what there is ----

    /** The graphs of the scope. */
    GraphFixtures graphs() {
        return graphs;
    }

    /** The engine of all contexts of the scope. */
    ProgressEngine engine() {
        if (engine == null) {
            engine = keep(ProgressEngine.create());
        }
        return engine;
    }

    /** Takes over what has to be ended with the scope; anything else is returned as it is. */
    <T> T keep(T thing) {
        if (thing == null || !known.add(thing)) {
            return thing;
        }
        switch (thing) {
            case Buf buf -> bufs.add(buf);
            case Task task -> tasks.add(task);
            case Context context -> {
                contexts.add(context);
                open.push(context);
            }
            case WorkQueue queue -> {
                queues.putIfAbsent(queue, queuedDma());
                open.push(queue);
            }
            case GraphInstance instance -> {
                instances.add(instance);
                open.push(instance);
            }
            case ProgressEngine made -> {
                engines.add(made);
                open.push(made);
            }
            case SyncEvent event -> open.push(() -> end(event));
            case AutoCloseable closeable -> open.push(closeable);
            default -> {}
        }
        return thing;
    }

    /** A descriptor that can be watched, and is not ready. */
    int descriptor() {
        int descriptor = EventFd.create();
        keep((AutoCloseable) () -> FileDescriptors.close(descriptor));
        return descriptor;
    }

    SharedMemory memory() {
        return keep(SharedMemory.allocate(MEMORY_BYTES));
    }

    /** A started mmap of a device, over shared memory of its own. */
    Mmap mmap(Device device) {
        return keep(Mmap.create())
                .setMemory(memory())
                .setPermissions(ALL)
                .addDevice(device)
                .start();
    }

    BufInventory inventory() {
        BufInventory inventory = keep(BufInventory.create(8));
        inventory.start();
        return inventory;
    }

    /** A buf of which so many bytes are data. */
    Buf buf(Device device, long lengthBytes, long dataBytes) {
        return buf(mmap(device), lengthBytes, dataBytes);
    }

    Buf buf(Mmap mmap, long lengthBytes, long dataBytes) {
        return keep(inventory().bufByArgs(mmap, 0, lengthBytes, 0, dataBytes));
    }

    // ---- moving it on ----

    /** Drives all engines until something holds. */
    void until(String what, BooleanSupplier condition) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            progressOrRest();
            if (System.nanoTime() - begin > Patience.DEADLINE.toNanos()) {
                throw new AssertionError("did not happen: what=" + what + ", scope=" + this);
            }
        }
    }

    /**
     * One pass of each engine that is open.
     *
     * @return whether one has worked
     */
    boolean progress() {
        boolean worked = false;
        for (ProgressEngine each : engines) {
            try {
                worked |= each.progress();
            } catch (DpuException e) {
                requireExpected(e);
            }
        }
        return worked;
    }

    /** One pass; where it finds no work, a rest for the threads that have some. */
    private void progressOrRest() {
        if (!progress()) {
            try {
                engine().await(REST);
            } catch (DpuException e) {
                requireExpected(e);
                LockSupport.parkNanos(REST.toNanos());
            }
        }
    }

    /** Stops a context and waits for the end. */
    void stop(Context context) {
        context.stop();
        until("stopped", () -> context.state() == ContextState.IDLE);
    }

    // ---- Comm Channel ----

    /** A server and a client that have found each other. */
    record Pair(
            ComchServer server,
            ComchClient client,
            ComchConnection atServer,
            ComchConnection atClient) {}

    /** The pair that was made first; made now if there is none. */
    Pair anyPair() {
        return firstPair == null ? pair() : firstPair;
    }

    Pair pair() {
        String name = environment.freshName();
        ComchServer server = ComchServer.create(environment.p0, environment.hpf0, name);
        ComchConnection[] found = new ComchConnection[1];
        configure(keep(server), connection -> found[0] = connection);
        ComchClient client = configure(keep(ComchClient.create(environment.pf0, name)));
        engine().connect(server);
        engine().connect(client);
        server.start();
        client.start();
        until("client connected", () -> client.state() == ContextState.RUNNING && found[0] != null);
        Pair made = new Pair(server, client, found[0], client.connection());
        firstPair = firstPair == null ? made : firstPair;
        return made;
    }

    static ComchServer configure(ComchServer server, ComchConnectionCallback connected) {
        server.setSendTasks(1, task -> {}, task -> {});
        server.setMessageCallback((from, message) -> {});
        server.setConsumerCallbacks((on, id) -> {}, (on, id) -> {});
        server.setConnectedCallback(connected);
        return server;
    }

    static ComchClient configure(ComchClient client) {
        client.setSendTasks(1, task -> {}, task -> {});
        client.setMessageCallback((from, message) -> {});
        client.setConsumerCallbacks((on, id) -> {}, (on, id) -> {});
        return client;
    }

    // ---- RDMA ----

    /** Two instances with a connection each, on the DPU and on the target. */
    record Link(Rdma near, RdmaConnection here, Rdma far, RdmaConnection there) {}

    /** The link that was made first; made now if there is none. */
    Link anyLink() {
        return firstLink == null ? link() : firstLink;
    }

    /** A started instance on the target, with an unconnected connection. */
    byte[] peerBlob() {
        if (peerBlob == null) {
            Rdma far = rdma(environment.t0);
            engine().connect(far);
            far.start();
            peerBlob = far.exportConnection().blob();
        }
        return peerBlob;
    }

    /** A connection of this instance that was not connected yet; of another where it has none. */
    RdmaConnection exported(Rdma rdma) {
        if (exported == null) {
            exported =
                    switch (rdma.state()) {
                        case STARTING, RUNNING -> rdma.exportConnection();
                        case IDLE, STOPPING -> anyLink().here();
                    };
        }
        return exported;
    }

    Rdma rdma(Device device) {
        Rdma rdma = keep(Rdma.create(device));
        rdma.setPermissions(
                Permissions.of(
                        AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC));
        rdma.setMaxConnections(2);
        rdma.setSendTasks(1, task -> {}, task -> {});
        rdma.setReceiveTasks(1, task -> {}, task -> {});
        rdma.setReadTasks(1, task -> {}, task -> {});
        rdma.setWriteTasks(1, task -> {}, task -> {});
        rdma.setSendImmediateTasks(1, task -> {}, task -> {});
        rdma.setWriteImmediateTasks(1, task -> {}, task -> {});
        rdma.setCompareAndSwapTasks(1, task -> {}, task -> {});
        rdma.setFetchAndAddTasks(1, task -> {}, task -> {});
        rdma.setRemoteSyncEventGetTasks(1, task -> {}, task -> {});
        rdma.setRemoteSyncEventNotifySetTasks(1, task -> {}, task -> {});
        rdma.setRemoteSyncEventNotifyAddTasks(1, task -> {}, task -> {});
        rdma.setConnectionRequestCallback(request -> {});
        return rdma;
    }

    /** A request that waits, the instance that listens, on the DPU, and the one that connects. */
    record Asked(RdmaConnectionRequest request, Rdma listener, Rdma peer) {}

    Asked asked() {
        List<RdmaConnectionRequest> found = new ArrayList<>();
        Rdma listener = rdma(environment.p0);
        listener.setConnectionRequestCallback(found::add);
        Rdma peer = rdma(environment.t0);
        engine().connect(listener);
        engine().connect(peer);
        listener.start();
        peer.start();
        int port = freePort();
        listener.listen(port);
        peer.connect(
                new RdmaAddress(RdmaAddress.Type.IPV4, environment.p0.info().ipv4(), port),
                new byte[0]);
        until("a request", () -> !found.isEmpty());
        return new Asked(found.getFirst(), listener, peer);
    }

    /** An address of the target, where nothing listens. */
    RdmaAddress addressOfTarget() {
        return new RdmaAddress(RdmaAddress.Type.IPV4, environment.t0.info().ipv4(), freePort());
    }

    /** A port on which nobody has listened. */
    static int freePort() {
        return LAST_PORT.incrementAndGet();
    }

    /** A port on which this instance listens, if it is in a state to listen. */
    int listeningPort(Rdma rdma) {
        int port = freePort();
        if (rdma.state() == ContextState.STARTING || rdma.state() == ContextState.RUNNING) {
            rdma.listen(port);
        }
        return port;
    }

    Link link() {
        Rdma near = rdma(environment.p0);
        Rdma far = rdma(environment.t0);
        engine().connect(near);
        engine().connect(far);
        near.start();
        far.start();
        RdmaConnection here = near.exportConnection();
        RdmaConnection there = far.exportConnection();
        near.connect(there.blob(), here);
        far.connect(here.blob(), there);
        until(
                "instances connected",
                () ->
                        here.state() == RdmaConnection.State.CONNECTED
                                && there.state() == RdmaConnection.State.CONNECTED);
        Link made = new Link(near, here, far, there);
        firstLink = firstLink == null ? made : firstLink;
        return made;
    }

    /** The far side's memory as the near side sees it. */
    Mmap remoteMemory() {
        byte[] blob = mmap(environment.t0).exportRdma(environment.t0);
        return keep(Mmap.createFromExport(blob, environment.p0));
    }

    /** A sync event of the far side, that has a value other than 0, as the near side sees it. */
    RemoteSyncEvent remoteEvent() {
        return keep(
                RemoteSyncEvent.createFromExport(SyncFixtures.remoteBlob(this), environment.p0));
    }

    // ---- DMA ----

    /** A DMA context with tasks, not yet connected. */
    Dma dma() {
        return keep(Dma.create(environment.p0)).setMemcpyTasks(1, task -> {}, task -> {});
    }

    /** One that can be started on an engine. */
    Dma configuredDma() {
        return keep(Dma.create(environment.p0)).setMemcpyTasks(2, task -> {}, task -> {});
    }

    /** One that is started without an engine, for jobs. */
    Dma startedDma() {
        Dma dma = keep(Dma.create(environment.p0));
        dma.start();
        return dma;
    }

    /** The one that queues of the scope are added to; another where that one was ended. */
    Dma queuedDma() {
        if (queuedDma == null || queuedDma.state() != ContextState.RUNNING) {
            queuedDma = startedDma();
        }
        return queuedDma;
    }

    /** A queue in polling mode that was added to a context. */
    WorkQueue queueWithDma() {
        return queueWith(queuedDma());
    }

    /** One that was added to this context. */
    WorkQueue queueWith(Dma dma) {
        return queueWith(dma, 2);
    }

    WorkQueue queueWith(Dma dma, int depth) {
        WorkQueue queue = keep(WorkQueue.create(depth));
        queue.add(dma);
        queues.put(queue, dma);
        return queue;
    }

    /** The context whose jobs a queue takes, if it was added to any. */
    Dma dmaOf(WorkQueue queue) {
        return queues.getOrDefault(queue, queuedDma());
    }

    /** A copy that a queue would take. */
    DmaMemcpyJob job(WorkQueue queue) {
        return job(dmaOf(queue));
    }

    /** A copy of a context that is on no queue. */
    DmaMemcpyJob job() {
        return job(startedDma());
    }

    private DmaMemcpyJob job(Dma dma) {
        return dma.createMemcpyJob(buf(environment.p0, 64, 16), buf(environment.p0, 64, 16));
    }

    /** Awaits all jobs, and takes the queues from their contexts. */
    private void endQueues() {
        long begin = System.nanoTime();
        JobEvent event = JobEvent.create();
        for (WorkQueue queue : queues.keySet()) {
            while (queue.inFlightJobs() > 0) {
                queue.progressRetrieve(event);
                if (System.nanoTime() - begin > Patience.DEADLINE.toNanos()) {
                    throw new AssertionError("jobs do not come to their end: scope=" + this);
                }
            }
            queue.close();
        }
    }

    // ---- the end ----

    @Override
    public void close() throws Exception {
        endQueues();
        long begin = System.nanoTime();
        while (!allIdle() || instances.stream().anyMatch(GraphInstance::isInFlight)) {
            for (int i = contexts.size() - 1; i >= 0; i--) {
                stopIfStarted(contexts.get(i));
            }
            instances.forEach(FixtureScope::closeIfPossible);
            tasks.forEach(FixtureScope::freeIfPossible);
            progressOrRest();
            if (System.nanoTime() - begin > Patience.DEADLINE.toNanos()) {
                throw new AssertionError("scope does not come to its end: " + this);
            }
        }
        bufs.forEach(FixtureScope::takeApart);
        bufs.forEach(FixtureScope::releaseAll);
        closeAll();
    }

    private static void takeApart(Buf head) {
        while (head.references() > 0 && head.isFirstInList() && head.nextInList() != null) {
            head.unchain(head.nextInList());
        }
    }

    /** Gives all references back; the last one of an array's buf is the array's. */
    private static void releaseAll(Buf buf) {
        try {
            while (buf.references() > 0) {
                buf.release();
            }
        } catch (DpuException e) {
            if (e.status() != Status.NOT_PERMITTED || buf.references() != 1) {
                throw e;
            }
        }
    }

    /** Closes dependents first: each object knows whether it is in use. */
    private void closeAll() throws Exception {
        DpuException refusal = null;
        int before = Integer.MAX_VALUE;
        while (!open.isEmpty()) {
            if (open.size() == before) {
                throw new AssertionError("cannot be closed: " + open, refusal);
            }
            before = open.size();
            for (int i = before; i > 0; i--) {
                AutoCloseable each = open.pop();
                try {
                    each.close();
                } catch (DpuException e) {
                    refusal = e;
                    open.addLast(each);
                }
            }
        }
    }

    /** A started event is not closed: it is stopped first, unless its context did that. */
    private static void end(SyncEvent event) {
        try {
            event.close();
        } catch (DpuException e) {
            if (!event.isStarted()) {
                throw e;
            }
            event.stop();
            event.close();
        }
    }

    private boolean allIdle() {
        return contexts.stream().allMatch(context -> context.state() == ContextState.IDLE);
    }

    private static void stopIfStarted(Context context) {
        ContextState state = context.state();
        if (state == ContextState.STARTING || state == ContextState.RUNNING) {
            try {
                context.stop();
            } catch (DpuException e) {
                requireExpected(e); // what lives on it is stopped in the same pass
            }
        }
    }

    private static void closeIfPossible(GraphInstance instance) {
        try {
            instance.close();
        } catch (DpuException e) {
            requireExpected(e); // in flight, or another holds it
        }
    }

    private static void freeIfPossible(Task task) {
        try {
            task.free();
        } catch (DpuException e) {
            requireExpected(e);
        }
    }

    private static void requireExpected(DpuException e) {
        switch (e.status()) {
            case BAD_STATE, IN_USE -> {}
            default -> throw e;
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("contexts=[");
        for (Context context : contexts) {
            text.append(context).append(' ').append(context.state()).append(' ');
            text.append(context.inFlightTasks()).append(", failure=").append(context.failure());
            text.append("; ");
        }
        return text.append("]").toString();
    }
}
