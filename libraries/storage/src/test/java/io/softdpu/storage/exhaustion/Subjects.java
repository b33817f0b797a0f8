package io.softdpu.storage.exhaustion;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.StorageRole;
import io.softdpu.storage.workload.ExecutionStrategy;
import io.softdpu.storage.workload.StrategySettings;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Subjects for each acquisition of descriptors, mappings and threads by the layers. */
final class Subjects implements AutoCloseable {
    private static final long TIMEOUT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long SESSION_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final int BYTES = 1 << 20;

    private final Path folder;
    private final List<AutoCloseable> opened = new ArrayList<>();

    Subjects(Path folder) {
        this.folder = folder;
    }

    /** Subjects with one end, so that the failure is that of the caller. */
    List<Subject> simple() {
        Bus bus = keep(bus("simple"));
        Machine machine =
                keep(Machine.builder(Side.HOST).fabricFolder(folder.resolve("machines")).open());
        Device device = keep(machine.findDevice("pf0").open());
        SharedSegment segment = SharedSegment.allocate("softdpu-probe", BYTES);
        opened.add(segment::release);
        SharedMemory memory = keep(SharedMemory.allocate(BYTES));
        return List.of(
                Subject.alone("fabric.Bus.open", () -> bus("another")),
                Subject.alone("fabric.EventPoller", EventPoller::new),
                Subject.alone(
                        "fabric.SharedSegment", () -> SharedSegment.allocate("p", BYTES)::release),
                Subject.alone("fabric.Bus.listen", () -> bus.listen("name", pending -> {})),
                Subject.alone("fabric.Bus.export", () -> bus.export(segment, true, null)),
                Subject.alone("core.device.Machine.open", () -> machine()),
                Subject.alone("core.SharedMemory", () -> SharedMemory.allocate(BYTES)),
                Subject.alone("core.ProgressEngine", ProgressEngine::create),
                Subject.alone("core.Mmap.exportPci", () -> exported(memory, device)));
    }

    /** Subjects that need memory, but no descriptor. */
    List<Subject> withoutDescriptors() {
        return List.of(
                Subject.alone(
                        "block.BlockDevice", () -> BlockDevice.open("memory:" + BYTES, 4096)));
    }

    /** Subjects with two ends: the failure may be the other end's, noticed as a timeout. */
    List<Subject> paired() {
        Bus exporter = keep(bus("exporter"));
        Bus importer = keep(bus("importer"));
        SharedSegment segment = SharedSegment.allocate("softdpu-probe", BYTES);
        opened.add(segment::release);
        ExportedRegion region = keep(exporter.export(segment, true, null));
        Machine host =
                keep(Machine.builder(Side.HOST).fabricFolder(folder.resolve("machines")).open());
        Machine dpu = keep(machine());
        SharedMemory memory = keep(SharedMemory.allocate(BYTES));
        Device pf0 = keep(host.findDevice("pf0").open());
        Device p0 = keep(dpu.findDevice("p0").open());
        Mmap mmap = keep(started(memory, pf0));
        byte[] blob = mmap.exportPci(pf0);
        return List.of(
                Subject.withOtherEnd(
                        "fabric.Bus.importRegion",
                        () -> {
                            ImportedRegion imported =
                                    get(
                                            importer.importRegion(
                                                            region.address(),
                                                            true,
                                                            true,
                                                            TIMEOUT_NANOS)
                                                    .future());
                            return imported;
                        }),
                Subject.withOtherEnd("fabric.Bus.connect", () -> connection(exporter, importer)),
                Subject.withOtherEnd(
                        "core.Mmap.createFromExport",
                        () ->
                                Mmap.createFromExport(
                                        blob,
                                        p0,
                                        Mapping.ACCESS,
                                        Duration.ofNanos(TIMEOUT_NANOS))));
    }

    /** A whole session: comch, rdma and the roles, from opening to end. */
    Subject session() {
        return Subject.withOtherEnd("storage.session", this::runSession);
    }

    @Override
    public void close() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    private <T extends AutoCloseable> T keep(T one) {
        opened.add(one);
        return one;
    }

    private Bus bus(String topology) {
        return Bus.open(
                new Bus.Config(
                        folder.resolve("bus"),
                        new byte[32],
                        topology,
                        TIMEOUT_NANOS,
                        1L << 30,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE));
    }

    private Machine machine() {
        return Machine.builder(Side.DPU)
                .fabricFolder(folder.resolve("machines"))
                .handshakeTimeout(Duration.ofNanos(TIMEOUT_NANOS))
                .open();
    }

    private static Mmap started(SharedMemory memory, Device device) {
        Mmap mmap = Mmap.create();
        mmap.setMemory(memory)
                .setPermissions(
                        Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE))
                .addDevice(device)
                .start();
        return mmap;
    }

    private static Mmap exported(SharedMemory memory, Device device) {
        Mmap mmap = Mmap.create();
        try {
            mmap.setMemory(memory)
                    .setPermissions(
                            Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE))
                    .addDevice(device)
                    .start();
            mmap.exportPci(device);
            return mmap;
        } catch (RuntimeException e) {
            mmap.close(); // the user's to close, and it must let itself be closed
            throw e;
        }
    }

    /** Both ends of a link, each with its memory. */
    private static AutoCloseable connection(Bus server, Bus client) throws Exception {
        Parts parts = new Parts();
        try {
            SharedSegment theirs = SharedSegment.allocate("softdpu-server", 4096);
            parts.add(theirs::release);
            SharedSegment ours = SharedSegment.allocate("softdpu-client", 4096);
            parts.add(ours::release);
            parts.add(
                    server.listen(
                                    "served",
                                    pending ->
                                            parts.add(closing(pending.accept(new byte[0], theirs))))
                            ::close);
            parts.add(
                    closing(
                            get(
                                    client.connect("served", new byte[0], ours, TIMEOUT_NANOS)
                                            .future())));
            return parts;
        } catch (Exception e) {
            parts.close();
            throw e;
        }
    }

    private static Runnable closing(Attachment attachment) {
        return () -> {
            attachment.link().close();
            attachment.remote().release();
        };
    }

    private AutoCloseable runSession() throws Exception {
        Workload workload =
                ExecutionStrategy.of("read_throughput_test")
                        .workload(new StrategySettings(100, 4, 1, null));
        try (Pipeline pipeline = new Pipeline(folder, SESSION_TIMEOUT_NANOS)) {
            try {
                StorageRole initiator = pipeline.start(64 << 10, workload);
                initiator.run();
                pipeline.awaitService();
                pipeline.awaitTarget();
            } catch (RuntimeException e) {
                addWhatOthersSay(e, pipeline);
                throw e;
            }
        }
        return () -> {};
    }

    /**
     * Adds the failures of the other participants, since the first to fail may not be the exhausted
     * one.
     */
    private static void addWhatOthersSay(RuntimeException first, Pipeline pipeline) {
        List<CompletableFuture<SessionReport>> ends = new ArrayList<>();
        for (CompletableFuture<SessionReport> end :
                Arrays.asList(pipeline.serviceEnd(), pipeline.targetEnd())) {
            if (end != null) {
                ends.add(end);
            }
        }
        if (!Await.holdsWithin(
                Duration.ofNanos(SESSION_TIMEOUT_NANOS),
                () -> ends.stream().allMatch(CompletableFuture::isDone))) {
            pipeline.endSession();
        }
        for (CompletableFuture<SessionReport> end : ends) {
            try {
                Pipeline.await(end);
            } catch (RuntimeException e) {
                if (e != first) {
                    first.addSuppressed(e);
                }
            }
        }
    }

    /** The value; throws its exception unwrapped. */
    private static <T> T get(CompletableFuture<T> future) throws Exception {
        try {
            return future.get(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        }
    }

    /**
     * Resources closed in reverse order. A connection that a server accepts after its client has
     * failed is closed at once.
     */
    private static final class Parts implements AutoCloseable {
        private final List<Runnable> parts = new ArrayList<>();
        private boolean closed;

        synchronized void add(Runnable part) {
            if (closed) {
                part.run();
            } else {
                parts.add(part);
            }
        }

        @Override
        public void close() {
            List<Runnable> all;
            synchronized (this) {
                closed = true;
                all = List.copyOf(parts);
            }
            all.reversed().forEach(Runnable::run); // not locked: an endpoint's close may wait
        }
    }
}
