package io.softdpu.api;

import io.softdpu.comch.ComchConnection;
import io.softdpu.compute.Dma;
import io.softdpu.compute.ShaSession;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.JobType;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.core.execution.Task;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaTransportType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Invalid and borderline arguments, by the parameter's type. */
final class InvalidValues {
    /** One such argument and the word that the table has for it. */
    record Value(String label, Maker maker) {}

    /** Makes it in a scope. */
    @FunctionalInterface
    interface Maker {
        @Nullable Object make(FixtureScope scope);
    }

    private final Map<Class<?>, List<Value>> byType = new HashMap<>();

    InvalidValues() {
        numbers();
        durations();
        texts();
        add(MemorySegment.class, "empty", s -> MemorySegment.NULL);
        add(MemorySegment.class, "closed", s -> closedMemory());
        add(MemorySegment.class, "foreign", s -> confinedElsewhere());
        add(MemorySegment.class, "readonly", s -> MemorySegment.ofArray(new byte[64]).asReadOnly());
        machines();
        memory();
        libraries();
        jobs();
        graphs();
        add(DataPathLocation.class, "dpa", s -> DataPathLocation.DPA);
        add(DataPathLocation.class, "gpu", s -> DataPathLocation.GPU);
    }

    List<Value> of(Class<?> type) {
        return byType.getOrDefault(type, List.of());
    }

    private void add(Class<?> type, String label, Maker maker) {
        byType.computeIfAbsent(type, key -> new ArrayList<>()).add(new Value(label, maker));
    }

    private void numbers() {
        add(int.class, "-1", s -> -1);
        add(int.class, "least", s -> Integer.MIN_VALUE);
        add(int.class, "0", s -> 0);
        add(int.class, "most", s -> Integer.MAX_VALUE);
        add(long.class, "-1", s -> -1L);
        add(long.class, "least", s -> Long.MIN_VALUE);
        add(long.class, "0", s -> 0L);
        add(long.class, "most", s -> Long.MAX_VALUE);
    }

    private void durations() {
        add(Duration.class, "-1", s -> Duration.ofNanos(-1));
        add(Duration.class, "least", s -> Duration.ofSeconds(Long.MIN_VALUE));
        add(Duration.class, "0", s -> Duration.ZERO);
        add(Duration.class, "most", s -> Duration.ofSeconds(Long.MAX_VALUE));
    }

    private void texts() {
        add(String.class, "empty", s -> "");
        add(String.class, "nul", s -> "a\0b");
        add(String.class, "long", s -> "x".repeat(10_000));
        add(String.class, "surrogate", s -> "a\ud800");
        add(byte[].class, "empty", s -> new byte[0]);
        add(byte[].class, "zeros", s -> new byte[1 << 20]);
    }

    private void machines() {
        add(
                Machine.class,
                "closed",
                s -> {
                    Machine machine = s.environment.machine(Side.DPU);
                    machine.close();
                    return machine;
                });
        add(
                Device.class,
                "closed",
                s -> {
                    Device device = s.environment.dpu.findDevice("p0").open();
                    device.close();
                    return device;
                });
        add(Device.class, "target", s -> s.environment.t0);
        add(DeviceInfo.class, "target", s -> s.environment.t0.info());
        add(
                Representor.class,
                "closed",
                s -> {
                    Representor representor = s.environment.p0.findRepresentor("hpf0").open();
                    representor.close();
                    return representor;
                });
        add(Path.class, "file", s -> Path.of("/proc/self/status"));
        add(Path.class, "nowhere", s -> Path.of("/proc/self/no/such/folder"));
        add(Path.class, "long", s -> s.environment.folder.resolve("x".repeat(300)));
        add(Context.class, "users", s -> new UsersContext(s.environment.p0));
        add(
                Context.class,
                "closed",
                s -> {
                    Rdma rdma = Rdma.create(s.environment.p0);
                    rdma.close();
                    return rdma;
                });
        add(Context.class, "connected", s -> s.anyLink().near());
        add(Context[].class, "connected", s -> new Context[] {s.anyLink().near()});
    }

    private void memory() {
        add(AccessFlag[].class, "of null", s -> new AccessFlag[] {null});
        add(
                AccessFlag[].class,
                "clashing",
                s -> new AccessFlag[] {AccessFlag.PCI_READ_ONLY, AccessFlag.PCI_READ_WRITE});
        add(Permissions.class, "pci", s -> Permissions.of(AccessFlag.PCI_READ_ONLY));
        add(
                SharedMemory.class,
                "closed",
                s -> {
                    SharedMemory memory = SharedMemory.allocate(4096);
                    memory.close();
                    return memory;
                });
        add(
                LocalMemory.class,
                "closed",
                s -> {
                    LocalMemory memory = LocalMemory.allocate(4096);
                    memory.close();
                    return memory;
                });
        add(Mmap.class, "created", s -> s.keep(Mmap.create()));
        add(Mmap.class, "imported", FixtureScope::remoteMemory);
        add(
                Mmap.class,
                "closed",
                s -> {
                    Mmap mmap = Mmap.create();
                    mmap.close();
                    return mmap;
                });
        add(
                Buf.class,
                "released",
                s -> {
                    Buf buf = s.buf(s.environment.p0, 64, 16);
                    buf.release();
                    return buf;
                });
    }

    private void libraries() {
        add(ComchConnection.class, "other", s -> s.pair().atClient());
        add(
                ComchConnection.class,
                "ended",
                s -> {
                    s.anyPair(); // which the other arguments are of
                    FixtureScope.Pair pair = s.pair();
                    s.stop(pair.client());
                    return pair.atClient();
                });
        add(RdmaTransportType.class, "dc", s -> RdmaTransportType.DC);
        add(RdmaConnection.class, "other", s -> s.link().there());
        add(
                RdmaAddress.class,
                "elsewhere",
                s -> RdmaAddress.of(RdmaAddress.Type.IPV4, "192.0.2.1", 7));
        add(
                RdmaConnection.class,
                "ended",
                s -> {
                    s.anyLink(); // which the other arguments are of
                    FixtureScope.Link link = s.link();
                    link.here().disconnect();
                    s.until(
                            "ended",
                            () -> link.here().state() == RdmaConnection.State.DISCONNECTED);
                    return link.here();
                });
    }

    private void jobs() {
        add(Job.class, "users", s -> new UsersJob(s.queuedDma()));
        add(Job.class, "elsewhere", FixtureScope::job);
        add(ShaSession.class, "other", ShaFixtures::otherSession);
        add(
                Job.class,
                "in flight",
                s -> {
                    WorkQueue queue = s.queueWithDma();
                    Job job = s.job(queue);
                    queue.submit(job);
                    return job;
                });
    }

    private void graphs() {
        add(GraphNode.class, "other", s -> s.graphs().parts(s.graphs().graph("created")).node());
        add(Graph.class, "for queues", s -> s.graphs().graph("for queues"));
        add(Graph.class, "created", s -> s.graphs().graph("created"));
        add(
                GraphInstance.class,
                "other",
                s -> s.keep(s.graphs().graph("started").createInstance()));
        add(
                WorkQueue.class,
                "closed",
                s -> {
                    WorkQueue queue = WorkQueue.create(1);
                    queue.close();
                    return queue;
                });
    }

    private static MemorySegment closedMemory() {
        try (Arena arena = Arena.ofConfined()) {
            return arena.allocate(64);
        }
    }

    private static MemorySegment confinedElsewhere() {
        CompletableFuture<MemorySegment> made = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> made.complete(Arena.ofConfined().allocate(64)));
        return made.join();
    }

    /** Implementation of a context interface by a program, which the API does not support. */
    private record UsersContext(Device device) implements Context {
        @Override
        public Status start() {
            return Status.SUCCESS;
        }

        @Override
        public Status stop() {
            return Status.SUCCESS;
        }

        @Override
        public ContextState state() {
            return ContextState.IDLE;
        }

        @Override
        public @Nullable DpuException failure() {
            return null;
        }

        @Override
        public Context setStateChangedCallback(@Nullable StateChangedCallback callback) {
            return this;
        }

        @Override
        public Context setDataPathLocation(DataPathLocation location) {
            return this;
        }

        @Override
        public long userData() {
            return 0;
        }

        @Override
        public Context setUserData(long userData) {
            return this;
        }

        @Override
        public @Nullable Object userObject() {
            return null;
        }

        @Override
        public Context setUserObject(@Nullable Object userObject) {
            return this;
        }

        @Override
        public int inFlightTasks() {
            return 0;
        }

        @Override
        public int allocatedTasks() {
            return 0;
        }

        @Override
        public int trySubmitAll(Task[] tasks, int from, int to) {
            return 0;
        }

        @Override
        public boolean isEventDrivenSupported() {
            return false;
        }

        @Override
        public void close() {
            // Holds nothing.
        }
    }

    /** A job that no library has made. */
    private record UsersJob(Context context) implements Job {
        @Override
        public JobType type() {
            return Dma.MEMCPY_JOB;
        }

        @Override
        public Status status() {
            return Status.SUCCESS;
        }

        @Override
        public long result() {
            return 0;
        }

        @Override
        public boolean isInFlight() {
            return false;
        }

        @Override
        public @Nullable DpuException refusal() {
            return null;
        }

        @Override
        public long userData() {
            return 0;
        }

        @Override
        public Job setUserData(long userData) {
            return this;
        }

        @Override
        public @Nullable Object userObject() {
            return null;
        }

        @Override
        public Job setUserObject(@Nullable Object userObject) {
            return this;
        }
    }
}
