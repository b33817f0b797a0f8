package io.softdpu.api;

import io.softdpu.api.Registry.Threads;
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
        registry.none(StateChangedCallback.class, "the user's to implement, nobody's to call");
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
                (scene, state) -> {
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
                (scene, state) -> {
                    Machine machine =
                            machine(scene, state.equals("open machine") ? "open" : "closed");
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
                (scene, state) -> scene.world.p0.findRepresentor("hpf0"));
        registry.add(
                Representor.class,
                Threads.ANY,
                List.of("open", "in use", "closed"),
                CoreFixtures::representor);
        registry.add(
                CpuBinding.class,
                Threads.ANY,
                List.of("first core", "any", "no such core"),
                (scene, state) ->
                        switch (state) {
                            case "first core" -> CpuBinding.core(0);
                            case "any" -> CpuBinding.any();
                            default -> CpuBinding.core(Integer.MAX_VALUE);
                        });
        registry.none(DescriptorCallback.class, "the user's to implement, nobody's to call");
        registry.add(
                Deadline.class,
                Threads.ANY,
                List.of("open", "passed", "none"),
                (scene, state) ->
                        switch (state) {
                            case "open" -> Deadline.in(3_600_000_000_000L);
                            case "passed" -> Deadline.in(0);
                            default -> Deadline.in(Deadline.NO_TIMEOUT);
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

    private static Machine machine(Scene scene, String state) {
        Machine machine = scene.keep(scene.world.machine(Side.DPU));
        switch (state) {
            case "in use" -> scene.keep(machine.findDevice("p0").open());
            case "closed" -> machine.close();
            default -> {}
        }
        return machine;
    }

    private static Machine.Builder machineBuilder(Scene scene, String state) {
        Machine.Builder builder =
                Machine.builder(Side.HOST).fabricFolder(scene.world.folder.resolve("fabric"));
        if (state.equals("used")) {
            scene.keep(builder.open());
        }
        return builder;
    }

    private static Device device(Scene scene, String state) {
        Device device = scene.keep(scene.world.dpu.findDevice("p0").open());
        switch (state) {
            case "in use" -> scene.keep(device.findRepresentor("hpf0").open(device));
            case "closed" -> device.close();
            default -> {}
        }
        return device;
    }

    private static Representor representor(Scene scene, String state) {
        Device device = device(scene, "open");
        Representor representor = scene.keep(device.findRepresentor("hpf0").open(device));
        switch (state) {
            case "in use" ->
                    scene.keep(
                            io.softdpu.comch.ComchServer.create(
                                    device, representor, scene.world.freshName()));
            case "closed" -> representor.close();
            default -> {}
        }
        return representor;
    }

    private static ProgressEngine engine(Scene scene, String state) {
        ProgressEngine engine = scene.keep(ProgressEngine.create());
        switch (state) {
            case "connected" -> engine.connect(scene.rdma(scene.world.p0));
            case "closed" -> engine.close();
            default -> {}
        }
        return engine;
    }

    private static DescriptorWatch watch(Scene scene, String state) {
        ProgressEngine engine = scene.keep(ProgressEngine.create());
        DescriptorWatch watch =
                scene.keep(
                        engine.watch(
                                scene.descriptor(),
                                DescriptorWatch.READABLE,
                                (present, events) -> {}));
        switch (state) {
            case "closed" -> watch.close();
            case "engine closed" -> engine.close();
            default -> {}
        }
        return watch;
    }

    private static EngineTimer timer(Scene scene, String state) {
        ProgressEngine engine = scene.keep(ProgressEngine.create());
        EngineTimer timer = engine.timer(() -> {});
        switch (state) {
            case "set" -> timer.set(1);
            case "engine closed" -> engine.close();
            default -> {}
        }
        return timer;
    }
}
