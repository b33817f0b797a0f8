package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Changes of a topology by plugging, unplugging and changing a function. Pure functions. */
final class Hotplug {
    private Hotplug() {}

    static Topology plug(Topology now, PciFunction function) {
        return without(now, null).add(function).build();
    }

    static Topology unplug(Topology now, PciFunction function) {
        if (!require(now, function).hotplugged()) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "the card came with this function: function="
                            + function.key()
                            + ", expected=one that was plugged in");
        }
        return without(now, function.key()).build();
    }

    static Topology change(Topology now, PciFunction function) {
        boolean hotplugged = require(now, function).hotplugged();
        return without(now, function.key())
                .add(function.toBuilder().hotplugged(hotplugged).build())
                .build();
    }

    private static PciFunction require(Topology now, PciFunction function) {
        return now.functionByKey(function.key())
                .filter(found -> found.parent() != null)
                .filter(found -> Objects.equals(found.parent(), function.parent()))
                .orElseThrow(() ->
                        new DpuException(
                                Status.NOT_FOUND,
                                Text.format(
                                        "port has no such function: function=%s, port=%s,"
                                                + " available=%s",
                                        function.key(),
                                        function.parent(),
                                        now.functions().stream()
                                                .filter(f -> f.parent() != null)
                                                .map(f -> f.key() + " of " + f.parent())
                                                .toList())));
    }

    private static Topology.Builder without(Topology now, @Nullable String key) {
        Topology.Builder builder = Topology.builder(now.name());
        now.functions().stream().filter(f -> !f.key().equals(key)).forEach(builder::add);
        return builder;
    }
}
