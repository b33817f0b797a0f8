package io.softdpu.api;

import io.softdpu.api.Registry.Threads;
import io.softdpu.comch.ComchCapabilities;
import io.softdpu.core.Side;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.capability.Capability;
import io.softdpu.core.capability.CapabilitySource;
import io.softdpu.core.capability.CoreSource;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.PciFunctionBuilder;
import io.softdpu.core.device.RepresentorFilter;
import io.softdpu.core.device.RepresentorInfo;
import io.softdpu.core.device.TopologySource;
import java.util.List;

/** Fixtures of the types that describe devices and their capabilities. */
final class DeviceFixtures {
    private DeviceFixtures() {}

    static void register(Registry registry) {
        registry.value(RepresentorFilter.class, RepresentorFilter.NET);
        registry.value(DeviceLimit.class, ComchCapabilities.CLIENTS_LIMIT);
        registry.value(Capability.class, Capability.limit(ComchCapabilities.CLIENTS_LIMIT, 3));
        registry.value(Capability.Unit.class, Capability.Unit.BYTES);
        registry.value(CoreSource.class, new CoreSource());
        registry.none(CapabilitySource.class, "a service; its calls are made on core's own");
        registry.none(TopologySource.class, "a service, implemented by softdpu-topology-json");
        registry.add(
                Capabilities.class,
                Threads.ANY,
                List.of("value"),
                (scope, state) -> Capabilities.of(scope.environment.p0.info(), "comch"));
        registry.add(
                PciFunctionBuilder.class,
                Threads.ONE_AT_A_TIME,
                List.of("new", "used"),
                (scope, state) -> {
                    PciFunctionBuilder builder = function();
                    if (state.equals("used")) {
                        builder.build();
                    }
                    return builder;
                });
    }

    /** A function of the host that p0 may be asked to make. */
    static PciFunctionBuilder function() {
        return PciFunction.builder(Side.HOST, "pf9")
                .ibdevName("mlx5_9")
                .pciAddress("0c:00.0")
                .parent("p0")
                .representor("hpf9")
                .ipv4("127.12.0.1")
                .macAddress("02:00:00:00:00:09")
                .vuid("SDPU-9");
    }

    /**
     * A representor of what was plugged in through the device, which is p0 of the environment's
     * card.
     */
    static RepresentorInfo plugged(FixtureScope scope) {
        Device p0 = scope.environment.p0;
        return p0.representors(RepresentorFilter.EMULATED).stream()
                .findFirst()
                .orElseGet(() -> p0.plug(function().build()));
    }

    /** A function that no other of the card has the names of. */
    static PciFunction unplugged(FixtureScope scope) {
        Device p0 = scope.environment.p0;
        p0.representors(RepresentorFilter.EMULATED).forEach(p0::unplug);
        return function().build();
    }
}
