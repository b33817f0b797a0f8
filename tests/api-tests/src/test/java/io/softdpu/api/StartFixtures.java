package io.softdpu.api;

import io.softdpu.block.BlockDevice;
import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.ComchProducer;
import io.softdpu.comch.ComchServer;
import io.softdpu.comch.ComchStream;
import io.softdpu.compute.Dma;
import io.softdpu.compute.Sha;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.memory.BufArray;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.BufPool;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.rdma.Rdma;
import io.softdpu.testkit.Patience;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/**
 * Chains of calls that throw, and objects that can be started, of each public class with a start.
 */
final class StartFixtures {
    /**
     * Object that can be started.
     *
     * @param object what is started
     * @param needed what it needs, and does not keep open before its start
     * @param named text of the message of a start without it: the object, and what is closed
     */
    record Startable(
            Object object, ThrowingCallable start, AutoCloseable needed, String... named) {}

    private final FixtureScope scope;
    private final Environment card;
    private final List<WeakReference<Object>> created = new ArrayList<>();

    StartFixtures(FixtureScope scope) {
        this.scope = scope;
        this.card = scope.environment;
    }

    /** Number of objects of chains that were not collected. */
    long alive() {
        return created.stream().filter(each -> !each.refersTo(null)).count();
    }

    private <T> T note(T made) {
        created.add(new WeakReference<>(made));
        return made;
    }

    // ---- chains ----

    /**
     * Chains of calls that throw in a setter or in the start, after which nobody has the object.
     * What they need is in the scope; nothing else is.
     */
    List<ThrowingCallable> chains(Class<?> type) {
        return switch (type.getSimpleName()) {
            case "Mmap" -> mmaps();
            case "BufInventory" -> List.of(() -> note(BufInventory.create(2)).start().start());
            case "BufPool" -> pools(scope.mmap(card.pf0));
            case "BufArray" -> arrays(scope.mmap(card.pf0));
            case "Graph" -> graphs(startedGraph());
            case "SyncEvent" -> events(scope.keep(SharedMemory.allocate(8)));
            case "SyncEventContext" ->
                    ofContext(
                            () -> note(SyncEvent.create(card.pf0).asContext()),
                            event -> event.setGetTasks(0, task -> {}, task -> {}));
            case "Dma" ->
                    ofContext(
                            () -> note(Dma.create(card.p0)),
                            dma -> dma.setMemcpyTasks(0, task -> {}, task -> {}));
            case "Sha" ->
                    ofContext(
                            () -> note(Sha.create(card.p0)),
                            sha -> sha.setHashTasks(0, task -> {}, task -> {}));
            case "BlockContext" -> {
                BlockDevice blocks = BlockFixtures.attached(scope);
                yield ofContext(
                        () -> note(blocks.createContext()),
                        context -> context.setReadTasks(0, task -> {}, task -> {}));
            }
            case "Rdma" -> rdma();
            case "ComchServer" -> servers();
            case "ComchClient" ->
                    ofContext(
                            () -> note(ComchClient.create(card.pf0, "never")),
                            client -> client.setMaxMessageBytes(-1));
            case "ComchProducer" -> {
                FixtureScope.Pair pair = scope.pair();
                yield ofContext(
                        () -> note(ComchProducer.create(pair.atClient())),
                        producer -> producer.setSendTasks(0, task -> {}, task -> {}));
            }
            case "ComchConsumer" -> {
                FixtureScope.Pair pair = scope.pair();
                Mmap mmap = scope.mmap(card.p0);
                yield ofContext(
                        () -> note(ComchConsumer.create(pair.atServer(), mmap)),
                        consumer -> consumer.setPostReceiveTasks(0, task -> {}, task -> {}));
            }
            case "ComchStream" -> streams(scope.pair());
            default -> throw unknown(type);
        };
    }

    /** A setter that throws, and a start by the engine without what is mandatory. */
    private <T extends Context> List<ThrowingCallable> ofContext(
            Supplier<T> creation, Function<T, T> illegalSetting) {
        ProgressEngine engine = scope.engine();
        return List.of(
                () -> illegalSetting.apply(creation.get()),
                () -> engine.start(creation.get(), Patience.LIMIT));
    }

    /** The last fails in its start, where it has taken what it needs. */
    private List<ThrowingCallable> servers() {
        String taken = card.freshName();
        ProgressEngine engine = scope.engine();
        engine.start(server(taken, scope::keep), Patience.LIMIT);
        List<ThrowingCallable> chains =
                new ArrayList<>(
                        ofContext(
                                () -> note(ComchServer.create(card.p0, card.hpf0, "never")),
                                server -> server.setMaxMessageBytes(-1)));
        chains.add(() -> engine.start(server(taken, this::note), Patience.LIMIT));
        return chains;
    }

    private ComchServer server(String name, UnaryOperator<ComchServer> made) {
        return FixtureScope.configure(
                made.apply(ComchServer.create(card.p0, card.hpf0, name)), connection -> {});
    }

    private List<ThrowingCallable> mmaps() {
        SharedMemory shared = scope.memory();
        LocalMemory local = scope.keep(LocalMemory.allocate(64));
        return List.of(
                () ->
                        note(Mmap.create())
                                .setMemory(shared)
                                .setPermissions(FixtureScope.ALL)
                                .addDevice(card.pf0)
                                .addDevice(card.p0), // of another machine
                () -> note(Mmap.create()).setMemory(local).addDevice(card.pf0).start(),
                () ->
                        note(Mmap.create())
                                .setMemory(shared.segment().asReadOnly())
                                .setPermissions(FixtureScope.ALL)
                                .addDevice(card.pf0)
                                .start());
    }

    private List<ThrowingCallable> pools(Mmap mmap) {
        return List.of(
                () -> note(BufPool.create(2, 64, mmap)).setElementAlignment(3),
                () -> note(BufPool.create(2, mmap.sizeBytes(), mmap)).start());
    }

    private List<ThrowingCallable> arrays(Mmap mmap) {
        return List.of(
                () -> note(BufArray.create(2)).setMemory(mmap, 64, -1),
                () -> note(BufArray.create(2)).setMemory(mmap, mmap.sizeBytes(), 0).start());
    }

    private List<ThrowingCallable> graphs(Graph subgraph) {
        ProgressEngine engine = scope.engine();
        return List.of(
                () -> {
                    Graph graph = note(Graph.create(engine));
                    graph.addSubgraphNode(subgraph);
                    graph.setMaxInstances(0);
                },
                () -> {
                    try (Graph graph = note(Graph.create(engine))) {
                        GraphNode node = graph.addUserNode(object -> Status.SUCCESS);
                        GraphInstance instance = note(graph.start().createInstance());
                        instance.setInstance(node, instance);
                    }
                },
                () -> note(Graph.create(engine)).start(),
                () -> note(Graph.create()).start());
    }

    private List<ThrowingCallable> events(SharedMemory memory) {
        return List.of(
                () ->
                        note(SyncEvent.create(card.pf0))
                                .setMemory(memory)
                                .addPublisherLocation(SyncEventLocation.DPA),
                () ->
                        note(SyncEvent.create(card.pf0))
                                .addPublisherLocation(SyncEventLocation.CPU)
                                .start());
    }

    private List<ThrowingCallable> rdma() {
        return List.of(
                () -> note(Rdma.create(card.p0)).setSendQueueSize(-1),
                () -> note(Rdma.create(card.p0)).start()); // without an engine
    }

    private List<ThrowingCallable> streams(FixtureScope.Pair pair) {
        return List.of(
                () -> note(ComchStream.create(pair.atClient())).setBufferBytes(0),
                () -> note(ComchStream.create(pair.atClient())).start()); // without an engine
    }

    // ---- objects that can be started ----

    /** Objects of the scope, each of which lacks nothing for its start. */
    List<Startable> startables(Class<?> type) {
        return switch (type.getSimpleName()) {
            case "Mmap" -> startableMmaps();
            case "BufInventory" -> List.of(); // needs nothing
            case "BufPool" -> {
                Mmap mmap = scope.mmap(card.pf0);
                BufPool pool = scope.keep(BufPool.create(2, 64, mmap));
                yield List.of(new Startable(pool, pool::start, mmap, "mmap is closed"));
            }
            case "BufArray" -> {
                Mmap mmap = scope.mmap(card.pf0);
                BufArray array = scope.keep(BufArray.create(2)).setMemory(mmap, 64, 0);
                yield List.of(new Startable(array, array::start, mmap, "mmap is closed"));
            }
            case "Graph" -> startableGraphs();
            case "SyncEvent" -> startableEvents();
            case "SyncEventContext" ->
                    onDevice(own ->
                            scope.keep(event(own).asContext())
                                    .setGetTasks(1, task -> {}, task -> {}));
            case "Dma" ->
                    onDevice(own ->
                            scope.keep(Dma.create(own)).setMemcpyTasks(1, task -> {}, task -> {}));
            case "Sha" ->
                    onDevice(own ->
                            scope.keep(Sha.create(own)).setHashTasks(1, task -> {}, task -> {}));
            case "BlockContext" -> {
                BlockDevice own = BlockFixtures.attached(scope);
                yield List.of(
                        needing(
                                own,
                                "block device is closed",
                                BlockFixtures.configured(scope, own)),
                        needingEngine(
                                BlockFixtures.configured(scope, BlockFixtures.attached(scope))));
            }
            case "Rdma" -> onDevice(scope::rdma);
            case "ComchServer" -> startableServers();
            case "ComchClient" -> {
                Device own = scope.keep(card.host.findDevice("pf0").open());
                yield List.of(
                        needing(own, "device=" + own, client(own)),
                        needingEngine(client(card.pf0)));
            }
            case "ComchProducer" ->
                    List.of(
                            needingEngine(
                                    scope.keep(ComchProducer.create(scope.pair().atClient()))
                                            .setSendTasks(1, task -> {}, task -> {})));
            case "ComchConsumer" -> {
                FixtureScope.Pair pair = scope.pair();
                Mmap mmap = scope.mmap(card.p0);
                yield List.of(
                        needing(mmap, "mmap is not started", consumer(pair, mmap)),
                        needingEngine(consumer(pair, scope.mmap(card.p0))));
            }
            case "ComchStream" ->
                    List.of(needingEngine(scope.keep(ComchStream.create(scope.pair().atClient()))));
            default -> throw unknown(type);
        };
    }

    private List<Startable> onDevice(Function<Device, Context> maker) {
        Device own = scope.keep(card.dpu.findDevice("p0").open());
        return List.of(
                needing(own, "device=" + own, maker.apply(own)),
                needingEngine(maker.apply(card.p0)));
    }

    private Startable needing(AutoCloseable needed, String closed, Context context) {
        scope.engine().connect(context);
        return new Startable(context, context::start, needed, closed, context.toString());
    }

    private Startable needingEngine(Context context) {
        ProgressEngine own = scope.keep(ProgressEngine.create());
        own.connect(context);
        return new Startable(
                context,
                context::start,
                own,
                "engine of the context is closed",
                context.toString());
    }

    private List<Startable> startableMmaps() {
        SharedMemory shared = scope.keep(SharedMemory.allocate(64));
        LocalMemory local = scope.keep(LocalMemory.allocate(128));
        Device own = scope.keep(card.host.findDevice("pf0").open());
        Mmap ofShared = scope.keep(Mmap.create()).setMemory(shared).addDevice(card.pf0);
        Mmap ofLocal = scope.keep(Mmap.create()).setMemory(local).addDevice(card.pf0);
        Mmap ofDevice = scope.keep(Mmap.create()).setMemory(scope.memory()).addDevice(own);
        List.of(ofShared, ofLocal, ofDevice).forEach(each -> each.setPermissions(FixtureScope.ALL));
        return List.of(
                new Startable(
                        ofShared,
                        ofShared::start,
                        shared,
                        "sharedMemoryBytes=64",
                        "mmap of 64 bytes"),
                new Startable(
                        ofLocal,
                        ofLocal::start,
                        local,
                        "localMemoryBytes=128",
                        "mmap of 128 bytes"),
                new Startable(ofDevice, ofDevice::start, own, "device=" + own, "user=mmap of"));
    }

    private List<Startable> startableGraphs() {
        Graph subgraph = startedGraph();
        Graph graph = scope.keep(Graph.create(scope.engine()));
        graph.addSubgraphNode(subgraph);
        return List.of(
                new Startable(
                        graph,
                        graph::start,
                        subgraph,
                        "sub-graph is not started: subgraph=" + subgraph,
                        "graph=" + graph));
    }

    private List<Startable> startableEvents() {
        Device own = scope.keep(card.dpu.findDevice("p0").open());
        SyncEvent ofDevice = event(own);
        SharedMemory memory = scope.keep(SharedMemory.allocate(8));
        SyncEvent ofMemory = event(card.p0).setMemory(memory);
        return List.of(
                new Startable(ofDevice, ofDevice::start, own, "device=" + own, ofDevice.toString()),
                new Startable(
                        ofMemory,
                        ofMemory::start,
                        memory,
                        "sharedMemoryBytes=8",
                        ofMemory.toString()));
    }

    private List<Startable> startableServers() {
        Device own = scope.keep(card.dpu.findDevice("p0").open());
        Representor ofOwn = scope.keep(own.findRepresentor("hpf0").open());
        Representor another = scope.keep(card.p0.findRepresentor("hpf0").open());
        ComchServer onOwn = server(own, ofOwn);
        return List.of(
                needing(
                        () -> {
                            ofOwn.close();
                            own.close();
                        },
                        "device=" + own,
                        onOwn),
                needing(another, "representor=" + another, server(card.p0, another)),
                needingEngine(server(card.p0, card.hpf0)));
    }

    private ComchServer server(Device device, Representor representor) {
        return FixtureScope.configure(
                scope.keep(ComchServer.create(device, representor, card.freshName())),
                connection -> {});
    }

    private ComchClient client(Device device) {
        return FixtureScope.configure(scope.keep(ComchClient.create(device, card.freshName())));
    }

    private ComchConsumer consumer(FixtureScope.Pair pair, Mmap mmap) {
        return scope.keep(ComchConsumer.create(pair.atServer(), mmap))
                .setPostReceiveTasks(1, task -> {}, task -> {});
    }

    private SyncEvent event(Device device) {
        return scope.keep(SyncEvent.create(device))
                .addPublisherLocation(SyncEventLocation.CPU)
                .addSubscriberLocation(SyncEventLocation.DPU);
    }

    private Graph startedGraph() {
        Dma dma = scope.dma();
        scope.engine().connect(dma);
        dma.start();
        Graph graph = scope.keep(Graph.create(scope.engine()));
        graph.addContextNode(dma);
        return graph.start();
    }

    private static AssertionError unknown(Class<?> type) {
        return new AssertionError("class with a start is not known: class=" + type.getName());
    }
}
