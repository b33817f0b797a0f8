package io.softdpu.api;

import io.softdpu.block.BlockTaskCallback;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.comch.ComchBatchCallback;
import io.softdpu.comch.ComchCapabilities;
import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchConnectionCallback;
import io.softdpu.comch.ComchConsumerCallback;
import io.softdpu.comch.ComchDisconnectCallback;
import io.softdpu.comch.ComchMessageCallback;
import io.softdpu.comch.ComchRefusalCallback;
import io.softdpu.comch.ComchServer;
import io.softdpu.comch.ComchStreamCallback;
import io.softdpu.comch.ComchTaskCallback;
import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaTaskCallback;
import io.softdpu.compute.ShaAlgorithm;
import io.softdpu.compute.ShaSession;
import io.softdpu.compute.ShaTaskCallback;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capability;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.FunctionType;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciAddress;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Representor;
import io.softdpu.core.device.RepresentorFilter;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.DescriptorCallback;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.EventMode;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.JobType;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.SanitizerListener;
import io.softdpu.core.execution.SanitizerReport;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.core.execution.SubmitFlags;
import io.softdpu.core.execution.Task;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphCallback;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.graph.UserNodeCallback;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufArray;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.MemoryFreeCallback;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.core.sync.SyncEventTaskCallback;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionCallback;
import io.softdpu.rdma.RdmaConnectionRequestCallback;
import io.softdpu.rdma.RdmaTaskCallback;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.rdma.RdmaTransportType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Parameter;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Valid arguments, with which a call succeeds in a state that allows it: by the parameter's type,
 * or by its name if the type is not specific enough.
 */
final class Values {
    /** Gives an argument; the receiver is null for a static method. */
    @FunctionalInterface
    interface Good {
        @Nullable Object of(FixtureScope scope, @Nullable Object receiver);
    }

    private final Map<Class<?>, Good> byType = new HashMap<>();
    private final Map<String, Good> byName = new HashMap<>();

    Values() {
        primitives();
        coreTypes();
        deviceTypes();
        memoryTypes();
        libraryTypes();
        executionTypes();
        graphs();
        syncTypes();
        names();
    }

    /** The good argument for a parameter. */
    @Nullable Object good(
            Operation operation, int index, FixtureScope scope, @Nullable Object receiver) {
        Parameter parameter = operation.parameters().get(index);
        Good good = byName.get(operation.key() + "." + parameter.getName());
        if (good == null) {
            good = byName.get(operation.name() + "." + parameter.getName());
        }
        if (good == null) {
            good = byType.get(parameter.getType());
        }
        if (good == null) {
            throw new AssertionError(
                    Text.format(
                            "no good value is known: type=%s, parameter=%s, operation=%s",
                            parameter.getType(), parameter.getName(), operation));
        }
        return good.of(scope, receiver);
    }

    @Nullable Object[] allGood(Operation operation, FixtureScope scope, @Nullable Object receiver) {
        @Nullable Object[] arguments = new Object[operation.parameters().size()];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = good(operation, i, scope, receiver);
        }
        return arguments;
    }

    private void primitives() {
        byType.put(boolean.class, (s, r) -> false);
        byType.put(int.class, (s, r) -> 1);
        byType.put(long.class, (s, r) -> 1L);
        byType.put(Duration.class, (s, r) -> Duration.ofNanos(1));
        byType.put(Deadline.class, (s, r) -> Deadline.in(Duration.ZERO));
        byType.put(byte[].class, (s, r) -> new byte[16]);
        byType.put(Object.class, (s, r) -> "an object");
        byType.put(Throwable.class, (s, r) -> new IllegalStateException("below"));
        byType.put(MemorySegment.class, (s, r) -> MemorySegment.ofArray(new byte[64]));
    }

    private void coreTypes() {
        byType.put(Status.class, (s, r) -> Status.NOT_FOUND);
        byType.put(Side.class, (s, r) -> Side.HOST);
        byType.put(FunctionType.class, (s, r) -> FunctionType.PF);
        byType.put(ContextState.class, (s, r) -> ContextState.STARTING);
        byType.put(Topology.class, (s, r) -> Topology.builtin());
        byType.put(PciAddress.class, (s, r) -> PciAddress.of("03:00.0"));
        byType.put(Inet4Address.class, (s, r) -> PciFunction.ipv4Of("127.0.0.1"));
        byType.put(
                PciFunction.class,
                (s, r) -> Topology.builtin().functionByKey("dpu/p0").orElseThrow());
        byType.put(Machine.class, (s, r) -> s.environment.host);
        byType.put(Path.class, (s, r) -> s.environment.folder.resolve("fabric"));
        byType.put(Device.class, Values::device);
        byType.put(DeviceInfo.class, (s, r) -> s.environment.p0.info());
        byType.put(Representor.class, (s, r) -> s.environment.hpf0);
        byType.put(Context.class, (s, r) -> s.rdma(s.environment.p0));
        byType.put(StateChangedCallback.class, (s, r) -> (StateChangedCallback) (c, a, b) -> {});
    }

    private void deviceTypes() {
        byType.put(Inet6Address.class, (s, r) -> PciFunction.ipv6Of("2001:db8::9"));
        byType.put(Map.class, (s, r) -> Map.of("comch.max_clients", 3L));
        byType.put(DeviceLimit.class, (s, r) -> ComchCapabilities.CLIENTS_LIMIT);
        byType.put(RepresentorFilter.class, (s, r) -> RepresentorFilter.NET);
        byType.put(Capability.Unit.class, (s, r) -> Capability.Unit.COUNT);
        byName.put("hasPciAddress.address", (s, r) -> "0b:00.0");
        byName.put("Device.plug.function", (s, r) -> DeviceFixtures.unplugged(s));
        byName.put("Device.unplug.representor", (s, r) -> DeviceFixtures.plugged(s));
        byName.put("Device.change.function", (s, r) -> DeviceFixtures.plugged(s).function());
        byName.put("Deadline.check.awaited", (s, r) -> "the start of a context");
        byName.put("Topology.parse.name", (s, r) -> "misuse");
        byName.put("Topology.parse.text", (s, r) -> Topology.builtin().canonicalText());
        byName.put("PciFunction.isName.text", (s, r) -> "pf9");
        byName.put("PciFunction.builder.interfaceName", (s, r) -> "pf9");
        byName.put("PciFunction.ipv6Of.text", (s, r) -> "2001:db8::9");
        byName.put("PciFunction.linkLocalOf.macAddress", (s, r) -> "02:00:00:00:00:09");
        byName.put("PciFunction.new.profile", (s, r) -> Map.of("comch.max_clients", 3L));
        byName.put("PciFunctionBuilder.ibdevName.name", (s, r) -> "mlx5_9");
        byName.put("PciFunctionBuilder.pciAddress.text", (s, r) -> "0c:00.0");
        byName.put("PciFunctionBuilder.parent.port", (s, r) -> "p0");
        byName.put("PciFunctionBuilder.representor.interfaceName", (s, r) -> "hpf9");
        byName.put("PciFunctionBuilder.ipv4.text", (s, r) -> "127.12.0.1");
        byName.put("PciFunctionBuilder.ipv6.text", (s, r) -> "2001:db8::9");
        byName.put("PciFunctionBuilder.macAddress.address", (s, r) -> "02:00:00:00:00:09");
        byName.put("PciFunctionBuilder.vuid.vuid", (s, r) -> "SDPU-9");
        byName.put("DeviceLimit.new.library", (s, r) -> "comch");
        byName.put("DeviceLimit.new.capability", (s, r) -> "max_clients");
        byName.put("DeviceLimit.ofCount.library", (s, r) -> "comch");
        byName.put("DeviceLimit.ofCount.capability", (s, r) -> "max_clients");
        byName.put("DeviceLimit.ofOptionalCount.library", (s, r) -> "comch-producer");
        byName.put("DeviceLimit.ofOptionalCount.capability", (s, r) -> "max_tasks");
        byName.put("DeviceLimit.ofBytes.library", (s, r) -> "comch");
        byName.put("DeviceLimit.ofBytes.capability", (s, r) -> "max_message_size");
        byName.put("DeviceLimit.libraryOf.id", (s, r) -> "comch.max_clients");
        byName.put("PciFunctionBuilder.limit.id", (s, r) -> "comch.max_clients");
        byName.put("Capabilities.acceptedInsteadOf.id", (s, r) -> "comch.max_clients");
        byName.put("Capabilities.acceptsLimit.id", (s, r) -> "comch.max_clients");
        byName.put("Capabilities.leastValueOf.id", (s, r) -> "comch.max_clients");
        byName.put("Capabilities.limitsOf.library", (s, r) -> "comch");
        byName.put("Capabilities.of.library", (s, r) -> "comch");
        byName.put("Capabilities.get.name", (s, r) -> "max_clients");
        byName.put("Capabilities.isSupported.name", (s, r) -> "server");
        byName.put("Capabilities.limit.name", (s, r) -> "max_clients");
        byName.put("Capability.new.name", (s, r) -> "max_clients");
        byName.put("Capability.limit.name", (s, r) -> "max_clients");
        byName.put("Capability.support.name", (s, r) -> "server");
    }

    private void memoryTypes() {
        byType.put(AccessFlag.class, (s, r) -> AccessFlag.RDMA_READ);
        byType.put(AccessFlag[].class, (s, r) -> new AccessFlag[] {AccessFlag.RDMA_READ});
        byType.put(
                Permissions.class,
                (s, r) ->
                        r instanceof Rdma
                                ? Permissions.of(AccessFlag.RDMA_READ)
                                : FixtureScope.ALL);
        byType.put(Mapping.class, (s, r) -> Mapping.ACCESS);
        byType.put(SharedMemory.class, (s, r) -> s.memory());
        byType.put(LocalMemory.class, (s, r) -> s.keep(LocalMemory.allocate(4096)));
        byType.put(Mmap.class, (s, r) -> s.mmap(r == null ? s.environment.p0 : s.environment.pf0));
        byType.put(Buf.class, (s, r) -> s.buf(s.environment.p0, 64, 16));
        byType.put(BufArray.Target.class, (s, r) -> BufArray.Target.CPU);
        byType.put(MemoryFreeCallback.class, (s, r) -> (MemoryFreeCallback) memory -> {});
    }

    private void libraryTypes() {
        byType.put(ComchTaskCallback.class, (s, r) -> (ComchTaskCallback<Task>) task -> {});
        byType.put(ComchBatchCallback.class, (s, r) -> (ComchBatchCallback<Task>) (t, n) -> {});
        byType.put(ComchConnectionCallback.class, (s, r) -> (ComchConnectionCallback) c -> {});
        byType.put(ComchRefusalCallback.class, (s, r) -> (ComchRefusalCallback) (c, e) -> {});
        byType.put(ComchDisconnectCallback.class, (s, r) -> (ComchDisconnectCallback) (c, e) -> {});
        byType.put(ComchConsumerCallback.class, (s, r) -> (ComchConsumerCallback) (c, id) -> {});
        byName.put("setSendQueue.sizeBytes", (s, r) -> 1 << 16);
        byType.put(ComchStreamCallback.class, (s, r) -> (ComchStreamCallback) stream -> {});
        byName.put("ComchStream.claim.timeout", (s, r) -> Duration.ofMillis(50));
        byName.put("ComchStream.receive.timeout", (s, r) -> Duration.ofMillis(50));
        byType.put(ComchMessageCallback.class, (s, r) -> (ComchMessageCallback) (c, m) -> {});
        byType.put(
                ComchConnection.class,
                (s, r) ->
                        r instanceof ComchServer ? s.anyPair().atServer() : s.anyPair().atClient());
        byType.put(RdmaTaskCallback.class, (s, r) -> (RdmaTaskCallback<Task>) task -> {});
        byType.put(
                RdmaConnectionCallback.class, (s, r) -> (RdmaConnectionCallback) (c, a, b) -> {});
        byType.put(RdmaTaskType.class, (s, r) -> RdmaTaskType.SEND);
        byType.put(RdmaTransportType.class, (s, r) -> RdmaTransportType.RC);
        byName.put("RdmaCapabilities.of.provider", (s, r) -> "shm");
        byName.put("RdmaCapabilities.requireProvider.name", (s, r) -> "shm");
        byName.put("RdmaCapabilities.requireProvider.source", (s, r) -> "option=--provider");
        byName.put("Rdma.setProvider.name", (s, r) -> "shm");
        byName.put("setPathMtuBytes.bytes", (s, r) -> 512);
        byType.put(RdmaConnection.class, (s, r) -> s.anyLink().here());
        byType.put(
                RdmaConnectionRequestCallback.class,
                (s, r) -> (RdmaConnectionRequestCallback) request -> {});
        byType.put(RdmaAddress.class, (s, r) -> s.addressOfTarget());
        byType.put(RdmaAddress.Type.class, (s, r) -> RdmaAddress.Type.IPV4);
        byType.put(InetAddress.class, (s, r) -> PciFunction.ipv4Of("127.0.0.1"));
        byName.put("RdmaAddress.of.address", (s, r) -> "127.0.0.1");
        byName.put("Rdma.listen.port", (s, r) -> FixtureScope.freePort());
        byName.put("Rdma.stopListening.port", (s, r) -> s.listeningPort((Rdma) r));
    }

    private void executionTypes() {
        byType.put(DataPathLocation.class, (s, r) -> DataPathLocation.CPU);
        byType.put(EventMode.class, (s, r) -> EventMode.ALL);
        byType.put(SubmitFlags.class, (s, r) -> SubmitFlags.FLUSH);
        byType.put(JobEvent.class, (s, r) -> JobEvent.create());
        byType.put(Job.class, (s, r) -> r instanceof WorkQueue queue ? s.job(queue) : s.job());
        byType.put(SanitizerReport.Kind.class, (s, r) -> SanitizerReport.Kind.TASK_LEAKED);
        byType.put(SanitizerListener.class, (s, r) -> (SanitizerListener) report -> {});
        byType.put(BlockTaskCallback.class, (s, r) -> (BlockTaskCallback<Task>) task -> {});
        byType.put(DmaTaskCallback.class, (s, r) -> (DmaTaskCallback<Task>) task -> {});
        byType.put(ShaTaskCallback.class, (s, r) -> (ShaTaskCallback<Task>) task -> {});
        byType.put(ShaAlgorithm.class, (s, r) -> ShaAlgorithm.SHA256);
        byType.put(ShaSession.class, ShaFixtures::sessionFor);
        byType.put(Task[].class, (s, r) -> new Task[0]);
        byType.put(Context[].class, (s, r) -> new Context[] {s.rdma(s.environment.p0)});
        byType.put(BooleanSupplier.class, (s, r) -> (BooleanSupplier) () -> true);
        byName.put("ProgressEngine.runUntil.timeout", (s, r) -> Duration.ofSeconds(2));
        byName.put("ProgressEngine.start.timeout", (s, r) -> Duration.ofSeconds(2));
        byName.put("ProgressEngine.stop.timeout", (s, r) -> Duration.ofSeconds(2));
        byName.put("ProgressEngine.start.context", (s, r) -> s.configuredDma());
        byName.put("trySubmitAll.from", (s, r) -> 0);
        byName.put("trySubmitAll.to", (s, r) -> 0);
        byName.put("WorkQueue.add.context", (s, r) -> s.startedDma());
        byName.put("WorkQueue.remove.context", (s, r) -> s.dmaOf((WorkQueue) r));
        byName.put("JobType.new.name", (s, r) -> "misuse");
        byName.put("SanitizerReport.new.message", (s, r) -> "misused: object=x");
    }

    private void graphs() {
        byType.put(ProgressEngine.class, (s, r) -> s.engine());
        byType.put(WorkQueue.class, (s, r) -> s.graphs().queue(graph(r)));
        byType.put(UserNodeCallback.class, (s, r) -> (UserNodeCallback) object -> Status.SUCCESS);
        byType.put(GraphCallback.class, (s, r) -> (GraphCallback) instance -> {});
        byType.put(JobType.class, (s, r) -> Dma.MEMCPY_JOB);
        byType.put(Graph.class, (s, r) -> s.graphs().parts(graph(r)).subgraph());
        byType.put(GraphNode.class, (s, r) -> s.graphs().parts(graph(r)).node());
        byType.put(GraphInstance.class, (s, r) -> s.graphs().subinstance(graph(r)));
        byType.put(Task.class, (s, r) -> s.graphs().task(graph(r)));
        byName.put("addDependency.child", (s, r) -> s.graphs().parts(graph(r)).user());
        byName.put("setJob.job", (s, r) -> s.graphs().job(s.graphs().parts(graph(r))));
        byName.put("setObject.node", (s, r) -> s.graphs().parts(graph(r)).user());
        byName.put("setInstance.node", (s, r) -> s.graphs().parts(graph(r)).sub());
    }

    private static @Nullable Graph graph(@Nullable Object receiver) {
        return switch (receiver) {
            case GraphInstance instance -> instance.graph();
            case GraphNode node -> node.graph();
            case Graph graph -> graph;
            case null, default -> null;
        };
    }

    private void syncTypes() {
        byType.put(SyncEventLocation.class, (s, r) -> SyncEventLocation.CPU);
        byType.put(SyncEventTaskCallback.class, (s, r) -> (SyncEventTaskCallback<Task>) task -> {});
        byName.put("SyncEvent.createFromExport.blob", (s, r) -> SyncFixtures.blob(s));
        byName.put("RemoteSyncEvent.createFromExport.blob", (s, r) -> SyncFixtures.remoteBlob(s));
        byType.put(RemoteSyncEvent.class, (s, r) -> s.remoteEvent());
        byName.put("SyncEvent.setMemory.memory", (s, r) -> s.keep(SharedMemory.allocate(8)));
        byName.put("waitGreater.threshold", (s, r) -> 0L);
        byName.put("waitGreaterYield.threshold", (s, r) -> 0L);
        byName.put("waitNotEqual.unexpected", (s, r) -> 0L);
        byName.put("waitNotEqualYield.unexpected", (s, r) -> 0L);
        byName.put("allocateWaitGreater.mask", (s, r) -> SyncEvent.ALL_BITS);
        byName.put("tryAllocateWaitGreater.mask", (s, r) -> SyncEvent.ALL_BITS);
        byName.put("allocateWaitEqual.mask", (s, r) -> SyncEvent.ALL_BITS);
        byName.put("tryAllocateWaitEqual.mask", (s, r) -> SyncEvent.ALL_BITS);
        byName.put("allocateWaitNotEqual.mask", (s, r) -> SyncEvent.ALL_BITS);
        byName.put("tryAllocateWaitNotEqual.mask", (s, r) -> SyncEvent.ALL_BITS);
        byName.put("createWaitGreaterJob.mask", (s, r) -> SyncEvent.ALL_BITS);
        byName.put("setMask.mask", (s, r) -> SyncEvent.ALL_BITS);
    }

    private void names() {
        byName.put("DpuException.new.message", (s, r) -> "no such thing: name=x");
        byName.put("Side.of.word", (s, r) -> "host");
        byName.put("findDevice.id", (s, r) -> "p0");
        byName.put("DeviceInfo.find.id", (s, r) -> "pf0");
        byName.put("findRepresentor.id", (s, r) -> "hpf0");
        byName.put("PciAddress.of.text", (s, r) -> "0b:00.0");
        byName.put("PciFunction.ipv4Of.text", (s, r) -> "127.0.0.1");
        byName.put("CpuBinding.of.text", (s, r) -> "0");
        byName.put("ProgressEngine.create.binding", (s, r) -> CpuBinding.any());
        byName.put("ProgressEngine.watch.descriptor", (s, r) -> s.descriptor());
        byName.put("ProgressEngine.watch.interest", (s, r) -> DescriptorWatch.READABLE);
        byType.put(DescriptorCallback.class, (s, r) -> (DescriptorCallback) (w, events) -> {});
        byType.put(Runnable.class, (s, r) -> (Runnable) () -> {});
        byName.put("Topology.builder.name", (s, r) -> "misuse");
        byName.put("functionByKey.key", (s, r) -> "host/pf0");
        byName.put("PciFunction.key.interfaceName", (s, r) -> "pf0");
        byName.put("PciFunction.new.interfaceName", (s, r) -> "pf9");
        byName.put("PciFunction.new.ibdevName", (s, r) -> "mlx5_9");
        byName.put("PciFunction.new.vuid", (s, r) -> "SDPU-9");
        byName.put("PciFunction.new.parent", (s, r) -> null); // neither it
        byName.put("PciFunction.new.representor", (s, r) -> null);
        byName.put("PciFunction.new.macAddress", (s, r) -> "02:00:00:00:00:09");
        byName.put(
                "Topology.Builder.add.function",
                (s, r) -> Topology.builtin().functionByKey("dpu/p0").orElseThrow());
        byName.put(
                "createFromExport.blob",
                (s, r) -> s.mmap(s.environment.pf0).exportPci(s.environment.pf0));
        byName.put("createFromExport.device", (s, r) -> s.environment.p0);
        byName.put("createFromExport.timeout", (s, r) -> Duration.ofSeconds(2));
        byName.put("SharedMemory.allocate.sizeBytes", (s, r) -> 4096L);
        byName.put("LocalMemory.allocate.sizeBytes", (s, r) -> 4096L);
        byName.put("setData.newDataOffset", (s, r) -> 0L);
        byName.put("setMessage.sourceOffset", (s, r) -> 0L);
        byName.put("setMessage.lengthBytes", (s, r) -> 16);
        byName.put("setImmediate.sourceOffset", (s, r) -> 0L);
        byName.put("setImmediate.lengthBytes", (s, r) -> 16);
        byName.put("Mmap.removeDevice.device", (s, r) -> s.environment.pf0);
        byName.put("Mmap.addDevice.device", (s, r) -> s.environment.pf1);
        byName.put("ComchClient.create.device", (s, r) -> s.environment.pf0);
        byName.put("ComchClient.create.serverName", (s, r) -> s.environment.freshName());
        byName.put("ComchServer.create.device", (s, r) -> s.environment.p0);
        byName.put("ComchServer.create.name", (s, r) -> s.environment.freshName());
        byName.put("ComchConsumer.create.connection", (s, r) -> s.anyPair().atServer());
        byName.put("Rdma.create.device", (s, r) -> s.environment.p0);
        byName.put("Rdma.connect.peerBlob", (s, r) -> s.peerBlob());
        byName.put("Rdma.connect.connection", (s, r) -> s.exported((Rdma) r));
        byName.put("BufArray.get.index", (s, r) -> 0);
        blocks();
        byName.put("Buf.unchain.list", (s, r) -> behind(s, (Buf) r));
        byName.put("BufInventory.duplicate.buf", (s, r) -> s.buf(s.environment.pf0, 64, 16));
    }

    private void blocks() {
        byType.put(BlockFeature.class, (s, r) -> BlockFeature.FLUSH);
        byName.put("BlockDevice.open.uri", (s, r) -> "null:64KiB");
        byName.put("BlockDevice.open.blockSizeBytes", (s, r) -> 4096);
        byName.put("BlockDevice.openBinaryContent.file", (s, r) -> volume(s));
        byName.put("BlockDevice.openBinaryContent.blockSizeBytes", (s, r) -> 4096);
        byName.put("BlockDevice.openBinaryContent.blockCount", (s, r) -> 1L);
        byName.put("BlockUriException.new.message", (s, r) -> "no such scheme: scheme=x");
        byName.put("BlockProperties.isBlockSize.bytes", (s, r) -> 4096L);
        byName.put("BlockProperties.requireBlockSize.blockSizeBytes", (s, r) -> 4096);
        byName.put("BlockProperties.new.sizeBytes", (s, r) -> 8192L);
        byName.put("BlockProperties.new.blockSizeBytes", (s, r) -> 4096);
        byName.put("BlockProperties.new.preferredRequestBytes", (s, r) -> 4096L);
        byName.put("BlockProperties.new.maxRequestBytes", (s, r) -> 4096L);
        byName.put("BlockProperties.new.features", (s, r) -> Set.of(BlockFeature.FUA));
        byName.put("BlockProperties.new.description", (s, r) -> "a device");
    }

    /** A raw file of a block. */
    private static Path volume(FixtureScope scope) {
        try {
            return Files.write(scope.environment.folder.resolve("volume"), new byte[4096]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The buf that follows the receiver in its list; any buf if none does. */
    private static Buf behind(FixtureScope scope, @Nullable Buf head) {
        Buf next = head == null ? null : head.nextInList();
        return next == null ? scope.buf(scope.environment.p0, 64, 16) : next;
    }

    /** A device that the receiver, an mmap, has; of the host where it has none. */
    private static Device device(FixtureScope scope, @Nullable Object receiver) {
        List<Device> devices = receiver instanceof Mmap mmap ? mmap.devices() : List.of();
        return devices.isEmpty() ? scope.environment.pf0 : devices.getFirst();
    }
}
