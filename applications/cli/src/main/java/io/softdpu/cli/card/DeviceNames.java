package io.softdpu.cli.card;

import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import java.util.Iterator;

/**
 * Interface names of the card's devices, of all sides, for completion: a script that is printed
 * with {@code SOFTDPU_TOPOLOGY} set has those of that card.
 */
public final class DeviceNames implements Iterable<String> {
    /** For picocli. */
    public DeviceNames() {}

    @Override
    public Iterator<String> iterator() {
        return Topology.fromEnvironment().functions().stream()
                .map(PciFunction::interfaceName)
                .distinct()
                .sorted()
                .iterator();
    }
}
