package io.softdpu.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.TinyContext;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.graph.NodeState;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufArray;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.BufPool;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventContext;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.UnixSocket;
import io.softdpu.testkit.Clause;
import java.io.IOException;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Table of restartable objects in the documentation of the package of core, row by row, with those
 * of the modules of core above it.
 */
class RestartTest {
    private static final Path PACKAGE =
            Path.of("../core/src/main/java/io/softdpu/core/package-info.java");
    private static final Pattern ROW =
            Pattern.compile(
                    "<tr><td>\\{@(?:link|code) [\\w.]*?(\\w+)}(?:, (\\w+))?<td>(yes|no)<td>\\w+");

    /** Shows a row: that the object can, or cannot, be started again. */
    private interface Row {
        void show() throws Exception;
    }

    @TempDir Path folder;
    private Machines machines;
    private Machine host;
    private Device pf0;
    private Mmap mmap;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        host = machines.open(Side.HOST);
        pf0 = machines.device(host, "pf0");
        SharedMemory memory = machines.add(SharedMemory.allocate(4096));
        mmap =
                machines.add(
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(
                                        Permissions.of(
                                                AccessFlag.LOCAL_READ_WRITE,
                                                AccessFlag.PCI_READ_WRITE))
                                .addDevice(pf0)
                                .start());
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private static Map<String, Boolean> table() throws IOException {
        Map<String, Boolean> rows = new TreeMap<>();
        Matcher matcher = ROW.matcher(Files.readString(PACKAGE));
        while (matcher.find()) {
            String object =
                    matcher.group(1) + (matcher.group(2) == null ? "" : " " + matcher.group(2));
            assertThat(rows.put(object, matcher.group(3).equals("yes"))).as(object).isNull();
        }
        return rows;
    }

    private Map<String, Row> restartable() {
        return Map.of(
                "Mmap local", this::showLocalMmap,
                "BufInventory", this::showInventory,
                "BufPool", this::showPool,
                "BufArray", this::showArray,
                "Context", this::showContext,
                "Graph", this::showGraph);
    }

    private Map<String, Row> closedForGood() {
        return Map.ofEntries(
                Map.entry("Machine", this::showMachine),
                Map.entry("Device", this::showDevice),
                Map.entry("Representor", this::showRepresentor),
                Map.entry("SharedMemory", this::showSharedMemory),
                Map.entry("LocalMemory", this::showLocalMemory),
                Map.entry("Mmap imported", this::showImportedMmap),
                Map.entry("ProgressEngine", this::showEngine),
                Map.entry("DescriptorWatch", this::showDescriptorWatch),
                Map.entry("WorkQueue", this::showWorkQueue),
                Map.entry("Sanitizer", this::showSanitizer),
                Map.entry("GraphInstance", this::showGraphInstance),
                Map.entry("SyncEvent", this::showSyncEvent),
                Map.entry("RemoteSyncEvent", this::showRemoteSyncEvent),
                Map.entry("SyncEventContext", this::showSyncEventContext));
    }

    @TestFactory
    @Clause("core-009")
    Stream<DynamicTest> shouldStartAgainWhatTheTableSays() throws IOException {
        return rows(true, restartable());
    }

    @TestFactory
    @Clause("core-009")
    Stream<DynamicTest> shouldNotStartAgainWhatTheTableSaysIsClosedForGood() throws IOException {
        return rows(false, closedForGood());
    }

    private static Stream<DynamicTest> rows(boolean restartable, Map<String, Row> shown)
            throws IOException {
        List<String> rows =
                table().entrySet().stream()
                        .filter(row -> row.getValue() == restartable)
                        .map(Map.Entry::getKey)
                        .toList();
        assertThat(shown.keySet()).containsExactlyInAnyOrderElementsOf(rows);
        return rows.stream().map(row -> DynamicTest.dynamicTest(row, shown.get(row)::show));
    }

    /** Checks that every object has a row. */
    @Test
    void shouldHaveARowForEveryObjectThatIsClosed() throws Exception {
        List<String> objects = new ArrayList<>();
        for (Class<?> oneOfModule : List.of(Machine.class, SyncEvent.class, Graph.class)) {
            for (String name : classesBeside(oneOfModule)) {
                if (name.contains(".internal.") || name.contains("-info")) {
                    continue;
                }
                Class<?> type = Class.forName(name);
                if (AutoCloseable.class.isAssignableFrom(type)
                        && Modifier.isPublic(type.getModifiers())
                        && !type.getPackageName().matches(".*[.](spi([.].*)?|resource|process)")) {
                    objects.add(type.getSimpleName());
                }
            }
        }
        List<String> rows =
                table().keySet().stream().map(row -> row.split(" ")[0]).distinct().toList();
        assertThat(objects).containsExactlyInAnyOrderElementsOf(rows);
    }

    /** Names of all classes of a module, which is a folder or a jar. */
    private static List<String> classesBeside(Class<?> one) throws Exception {
        Path module = Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (ModuleReader reader = ModuleFinder.of(module).findAll().iterator().next().open();
                Stream<String> files = reader.list()) {
            return files.filter(file -> file.endsWith(".class"))
                    .map(file -> file.substring(0, file.length() - 6).replace('/', '.'))
                    .toList();
        }
    }

    // ---- yes ----

    private void showLocalMmap() {
        byte[] before = mmap.exportPci(pf0);
        mmap.stop();
        Device pf1 = machines.device(host, "pf1");
        mmap.setPermissions(Permissions.of(AccessFlag.PCI_READ_WRITE)).addDevice(pf1).start();
        assertThat(mmap.state()).isEqualTo(Mmap.State.STARTED);
        assertThat(mmap.permissions()).isEqualTo(Permissions.of(AccessFlag.PCI_READ_WRITE));
        assertThat(mmap.devices()).containsExactly(pf0, pf1);
        assertThat(mmap.exportPci(pf0)).as("a new export").isNotEqualTo(before);
        Device p0 = machines.device(Side.DPU, "p0");
        Thrown.with(Status.NOT_FOUND, () -> Mmap.createFromExport(before, p0));
        mmap.stop();
        mmap.removeDevice(pf1).start();
        assertThat(mmap.devices()).containsExactly(pf0);
    }

    private void showInventory() {
        BufInventory inventory = machines.add(BufInventory.create(1).start());
        inventory.stop();
        inventory.start().bufByAddress(mmap, 0, 8).release();
    }

    private void showPool() {
        BufPool pool = machines.add(BufPool.create(2, 8, mmap).start());
        pool.stop();
        pool.setElementAlignment(64).start();
        Buf first = pool.allocate();
        Buf second = pool.allocate();
        assertThat(Math.abs(second.offset() - first.offset())).as("aligned").isEqualTo(64);
        first.release();
        second.release();
    }

    private void showArray() {
        BufArray array = machines.add(BufArray.create(1).setMemory(mmap, 8, 0).start());
        array.stop();
        Buf buf = array.setMemory(mmap, 16, 8).start().get(0);
        assertThat(buf.length()).isEqualTo(16);
        assertThat(buf.offset()).isEqualTo(8);
    }

    private void showContext() {
        ProgressEngine engine = machines.add(ProgressEngine.create());
        Context context = machines.add(new TinyContext(pf0));
        engine.connect(context);
        context.start();
        assertThat(context.state()).isEqualTo(ContextState.RUNNING);
        context.stop();
        while (context.state() != ContextState.IDLE) {
            assertThat(engine.progress()).as("goes on to IDLE").isTrue();
        }
        context.start();
        assertThat(context.state()).isEqualTo(ContextState.RUNNING);
        context.stop();
        while (context.state() != ContextState.IDLE) {
            engine.progress();
        }
    }

    private TinyContext runningContext(ProgressEngine engine) {
        TinyContext context = machines.add(new TinyContext(pf0));
        engine.connect(context);
        context.start();
        return context;
    }

    private void showGraph() {
        ProgressEngine engine = machines.add(ProgressEngine.create());
        TinyContext context = runningContext(engine);
        Graph graph = machines.add(Graph.create(engine));
        GraphNode node = graph.addContextNode(context);
        graph.start();
        graph.createInstance().close();
        graph.stop();
        GraphNode added = graph.addUserNode(object -> Status.SUCCESS);
        graph.addDependency(node, added).start();
        GraphInstance instance = graph.createInstance();
        assertThat(instance.state(added)).isEqualTo(NodeState.IDLE);
        instance.close();
        graph.close(); // before its context
    }

    // ---- no ----

    private void showGraphInstance() {
        ProgressEngine engine = machines.add(ProgressEngine.create());
        Graph graph = machines.add(Graph.create(engine));
        graph.addContextNode(runningContext(engine));
        graph.start();
        GraphInstance instance = graph.createInstance();
        instance.close();
        instance.close();
        assertThat(instance.trySubmit()).isEqualTo(Status.BAD_STATE);
        graph.createInstance().close();
        graph.close(); // before its context
    }

    private void showMachine() {
        Machine machine = machines.open(Side.DPU);
        Machine other = machines.open(Side.DPU);
        machine.close();
        machine.close();
        Thrown.with(Status.BAD_STATE, () -> machine.findDevice("p0").open());
        machines.device(other, "p0");
    }

    private void showDevice() {
        Device device = host.findDevice("pf0vf0").open();
        device.close();
        device.close();
        Thrown.with(Status.BAD_STATE, () -> Mmap.create().addDevice(device));
        machines.device(host, "pf0vf0");
    }

    private void showRepresentor() {
        Device p0 = machines.device(Side.DPU, "p0");
        Representor representor = p0.findRepresentor("hpf0").open();
        representor.close();
        representor.close();
        Thrown.with(Status.BAD_STATE, () -> new TinyContext(p0, representor));
        machines.add(p0.findRepresentor("hpf0").open());
    }

    private void showSharedMemory() {
        SharedMemory memory = SharedMemory.allocate(1);
        memory.close();
        memory.close();
        Thrown.with(Status.BAD_STATE, memory::segment);
    }

    private void showLocalMemory() {
        LocalMemory memory = LocalMemory.allocate(1);
        memory.close();
        memory.close();
        Thrown.with(Status.BAD_STATE, memory::segment);
    }

    private void showImportedMmap() {
        Device p0 = machines.device(Side.DPU, "p0");
        byte[] blob = mmap.exportPci(pf0);
        Mmap imported = machines.add(Mmap.createFromExport(blob, p0));
        Thrown.with(Status.NOT_PERMITTED, imported::stop);
        Thrown.with(Status.BAD_STATE, imported::start);
        imported.close();
        Thrown.with(Status.BAD_STATE, imported::start);
        machines.add(Mmap.createFromExport(blob, p0));
    }

    private void showEngine() {
        ProgressEngine engine = ProgressEngine.create();
        engine.close();
        engine.close();
        Thrown.with(Status.BAD_STATE, engine::progress);
        ProgressEngine another = machines.add(ProgressEngine.create());
        Context context = machines.add(new TinyContext(pf0));
        Thrown.with(Status.BAD_STATE, () -> engine.connect(context));
        another.connect(context);
    }

    private void showDescriptorWatch() {
        ProgressEngine engine = machines.add(ProgressEngine.create());
        int[] pair = UnixSocket.pair();
        try {
            DescriptorWatch watch =
                    engine.watch(pair[0], DescriptorWatch.READABLE, (ready, events) -> {});
            watch.close();
            watch.close();
            Thrown.with(Status.BAD_STATE, () -> watch.setInterest(DescriptorWatch.WRITABLE));
            engine.watch(pair[0], DescriptorWatch.READABLE, (ready, events) -> {}).close();
        } finally {
            FileDescriptors.close(pair[0]);
            FileDescriptors.close(pair[1]);
        }
    }

    private void showWorkQueue() {
        WorkQueue queue = WorkQueue.create(1);
        queue.close();
        queue.close();
        Thrown.with(Status.BAD_STATE, () -> queue.progressRetrieve(JobEvent.create()));
        machines.add(WorkQueue.create(1));
    }

    private SyncEvent syncEvent() {
        return machines.add(
                SyncEvent.create(pf0)
                        .addPublisherLocation(SyncEventLocation.CPU)
                        .addSubscriberLocation(SyncEventLocation.CPU));
    }

    private void showSyncEvent() {
        SyncEvent event = syncEvent().start();
        event.stop();
        Thrown.with(Status.BAD_STATE, event::start);
        event.close();
        Thrown.with(Status.BAD_STATE, event::start);
        SyncEvent another = syncEvent().start();
        assertThat(another.get()).isZero();
        another.stop();
    }

    private void showRemoteSyncEvent() {
        SyncEvent event =
                machines.add(
                                SyncEvent.create(pf0)
                                        .addPublisherLocation(SyncEventLocation.REMOTE)
                                        .addSubscriberLocation(SyncEventLocation.CPU))
                        .start();
        byte[] blob = event.exportRdma(pf0);
        RemoteSyncEvent remote = RemoteSyncEvent.createFromExport(blob, pf0);
        remote.close();
        assertThat(remote.isClosed()).isTrue();
        RemoteSyncEvent another = machines.add(RemoteSyncEvent.createFromExport(blob, pf0));
        assertThat(another.isClosed()).isFalse();
        another.close();
        event.stop();
    }

    private void showSyncEventContext() {
        SyncEventContext context = syncEvent().asContext();
        context.start();
        context.stop();
        Thrown.with(Status.BAD_STATE, context::start);
        context.close();
        Thrown.with(Status.BAD_STATE, context::start);
    }

    private void showSanitizer() {
        Sanitizer before = Sanitizer.current();
        Sanitizer sanitizer = Sanitizer.start(1);
        sanitizer.close();
        sanitizer.close();
        assertThat(Sanitizer.current() == null).as("off again").isEqualTo(before == null);
        try (Sanitizer another = Sanitizer.start(2)) {
            assertThat(another.seed()).isEqualTo(2);
        }
    }
}
