package io.softdpu.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.FunctionType;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Limit of tasks of contexts of block devices, as it is and lowered by a topology. */
class BlockCapabilitiesTest {
    @TempDir Path folder;

    private Machine machine(Side side, Topology topology) {
        return Machine.builder(side).topology(topology).fabricFolder(folder).open();
    }

    @Test
    void shouldTellTheLimitOfEveryDevice() {
        for (Side side : Side.values()) {
            try (Machine machine = machine(side, Topology.builtin())) {
                assertThat(machine.devices())
                        .isNotEmpty()
                        .allSatisfy(device -> {
                            assertThat(BlockCapabilities.of(device).maxTasks()).isEqualTo(65536);
                            assertThat(Capabilities.of(device, "block").limit("max_tasks"))
                                    .isEqualTo(65536);
                        });
            }
        }
        assertThat(Capabilities.limitsOf("block"))
                .extracting(DeviceLimit::id)
                .containsExactly("block.max_tasks");
    }

    @Test
    void shouldKeepToTheLimitOfTheTopology() {
        Topology small =
                Topology.builder("small")
                        .add(
                                PciFunction.builder(Side.DPU, "p0")
                                        .ibdevName("ib_p0")
                                        .type(FunctionType.PF)
                                        .pciAddress("03:00.0")
                                        .ipv4("127.1.2.3")
                                        .macAddress("02:00:00:00:00:01")
                                        .vuid("V-p0")
                                        .limit(BlockCapabilities.TASKS_LIMIT, 3)
                                        .build())
                        .build();
        try (Machine machine = machine(Side.DPU, small);
                Device p0 = machine.findDevice("p0").open();
                BlockDevice device = BlockDevice.open("null:1MiB")) {
            device.attach(p0);
            BlockContext context = device.createContext();
            context.setReadTasks(3, _ -> {}, _ -> {});
            assertThatThrownBy(() -> context.setReadTasks(4, _ -> {}, _ -> {}))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                    .hasMessageContaining("type=read, count=4, expected=1 to 3");
        }
    }
}
