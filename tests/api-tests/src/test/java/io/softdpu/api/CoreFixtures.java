package io.softdpu.api;

import io.softdpu.api.Registry.Threads;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.FunctionType;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciAddress;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Representor;
import io.softdpu.core.device.RepresentorInfo;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.DescriptorCallback;
import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.StateChangedCallback;
import io.softdpu.core.execution.Task;
import io.softdpu.linux.Affinity;
import java.time.Duration;
import java.util.List;

/** Machines, devices, values and engines. */
final class CoreFixtures {
    /** The state of an engine that is inside progress; the call is made from a callback. */
    static final String IN_CALLBACK = "in callback";

    private CoreFixtures() {}

    static void register(Registry registry) {
        registry.value(Status.class, Status.AGAIN);
        registry.value(Side.class, Side.HOST);
        registry.value(FunctionType.class, FunctionType.VF);
        registry.value(ContextState.class, ContextState.IDLE);
        registry.value(DpuException.class, new DpuException(Status.NOT_FOUND, "no: name=x"));
        registry.value(PciAddress.class, PciAddress.of("0b:00.0"));
        registry.value(Topology.class, Topology.builtin());
        registry.value(
                PciFunction.class, Topology.builtin().functionByKey("host/pf0").orElseThrow());
        registry.none(Context.class, "an interface; its calls are made on all that implement it");
        registry.none(Task.class, "an interface; its calls are made on all that implement it");
        registry.none(StateChangedCallback.class, "implemented by users, called by libraries only");
        registry.add(
                Machine.class,
                Threads.ANY,
                List.of("open", "in use", "closed"),
                CoreFixtures::machine);
        registry.add(
                Machine.Builder.class,
                Threads.ONE_AT_A_TIME,
                List.of("new", "used"),
                CoreFixtures::machineBuilder);
        registry.add(
                Topology.Builder.class,
                Threads.ONE_AT_A_TIME,
                List.of("new", "used"),
                (scope, state) -> {
                    Topology.Builder builder = Topology.builder("misuse");
                    if (state.equals("used")) {
                        builder.build();
                    }
                    return builder;
                });
        registry.add(
                DeviceInfo.class,
                Threads.ANY,
                List.of("open machine", "closed machine"),
                (scope, state) -> {
                    Machine machine =
                            machine(scope, state.equals("open machine") ? "open" : "closed");
                    return machine.findDevice("p0");
                });
        registry.add(
                Device.class,
                Threads.ANY,
                List.of("open", "in use", "closed"),
                CoreFixtures::device);
        registry.add(
                RepresentorInfo.class,
                Threads.ANY,
                List.of("value"),
                (scope, state) -> scope.environment.p0.findRepresentor("hpf0"));
        registry.add(
                Representor.class,
                Threads.ANY,
                List.of("open", "in use", "closed"),
                CoreFixtures::representor);
        registry.add(
                CpuBinding.class,
                Threads.ANY,
                List.of("a processor", "any", "no processor"),
                (scope, state) ->
                        switch (state) {
                            case "a processor" -> CpuBinding.hard(Affinity.allowed().nextSetBit(0));
                            case "any" -> CpuBinding.any();
                            default -> CpuBinding.hard(Integer.MAX_VALUE);
                        });
        registry.none(DescriptorCallback.class, "implemented by users, called by libraries only");
        registry.add(
                Deadline.class,
                Threads.ANY,
                List.of("open", "passed", "none"),
                (scope, state) ->
                        switch (state) {
                            case "open" -> Deadline.in(Duration.ofSeconds(3600));
                            case "passed" -> Deadline.in(Duration.ZERO);
                            default -> Deadline.never();
                        });
        registry.add(
                DescriptorWatch.class,
                Threads.OF_ENGINE,
                List.of("watching", "closed", "engine closed"),
                CoreFixtures::watch);
        registry.add(
                EngineTimer.class,
                Threads.OF_ENGINE,
                List.of("made", "set", "engine closed"),
                CoreFixtures::timer);
        registry.add(
                ProgressEngine.class,
                Threads.OF_ENGINE,
                List.of("open", "connected", IN_CALLBACK, "closed"),
                CoreFixtures::engine);
    }

    private static Machine machine(FixtureScope scope, String state) {
        Machine machine = scope.keep(scope.environment.machine(Side.DPU));
        switch (state) {
            case "in use" -> scope.keep(machine.findDevice("p0").open());
            case "closed" -> machine.close();
            default -> {}
        }
        return machine;
    }

    private static Machine.Builder machineBuilder(FixtureScope scope, String state) {
        Machine.Builder builder =
                Machine.builder(Side.HOST).fabricFolder(scope.environment.folder.resolve("fabric"));
        if (state.equals("used")) {
            scope.keep(builder.open());
        }
        return builder;
    }

    private static Device device(FixtureScope scope, String state) {
        Device device = scope.keep(scope.environment.dpu.findDevice("p0").open());
        switch (state) {
            case "in use" -> scope.keep(device.findRepresentor("hpf0").open());
            case "closed" -> device.close();
            default -> {}
        }
        return device;
    }

    private static Representor representor(FixtureScope scope, String state) {
        Device device = device(scope, "open");
        Representor representor = scope.keep(device.findRepresentor("hpf0").open());
        switch (state) {
            case "in use" -> {
                ComchServer server =
                        scope.keep(
                                ComchServer.create(
                                        device, representor, scope.environment.freshName()));
                FixtureScope.configure(server, connection -> {});
                scope.engine().connect(server);
                server.start();
            }
            case "closed" -> representor.close();
            default -> {}
        }
        return representor;
    }

    private static ProgressEngine engine(FixtureScope scope, String state) {
        ProgressEngine engine = scope.keep(ProgressEngine.create());
        switch (state) {
            case "connected" -> engine.connect(scope.rdma(scope.environment.p0));
            case "closed" -> engine.close();
            default -> {}
        }
        return engine;
    }

    private static DescriptorWatch watch(FixtureScope scope, String state) {
        ProgressEngine engine = scope.keep(ProgressEngine.create());
        DescriptorWatch watch =
                scope.keep(
                        engine.watch(
                                scope.descriptor(),
                                DescriptorWatch.READABLE,
                                (present, events) -> {}));
        switch (state) {
            case "closed" -> watch.close();
            case "engine closed" -> engine.close();
            default -> {}
        }
        return watch;
    }

    private static EngineTimer timer(FixtureScope scope, String state) {
        ProgressEngine engine = scope.keep(ProgressEngine.create());
        EngineTimer timer = engine.timer(() -> {});
        switch (state) {
            case "set" -> timer.set(Duration.ofNanos(1));
            case "engine closed" -> engine.close();
            default -> {}
        }
        return timer;
    }
}
