package io.softdpu.cli.card;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The devices of a card, as programs see them that join its fabric folder. Any thread. */
public final class CardDevices {
    private CardDevices() {}

    /**
     * Opens the machine of each side and lists its devices.
     *
     * @param fabric the fabric folder; null for that of the environment
     * @throws DpuException the failure of {@link Machine.Builder#open}
     */
    public static List<PciFunction> list(Topology topology, @Nullable Path fabric, Side... sides) {
        List<PciFunction> functions = new ArrayList<>();
        for (Side side : sides) {
            Machine.Builder builder = Machine.builder(side).topology(topology);
            if (fabric != null) {
                builder.fabricFolder(fabric);
            }
            try (Machine machine = builder.open()) {
                machine.devices().stream().map(DeviceInfo::function).forEach(functions::add);
            }
        }
        return functions;
    }
}
