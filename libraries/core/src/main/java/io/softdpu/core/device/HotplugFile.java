package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/**
 * Text of the hotplug file that the programs of a fabric folder share: the canonical text of the
 * whole topology after functions were plugged in or changed. Any thread.
 */
final class HotplugFile {
    private final Topology opened;
    private volatile @Nullable Reading last;

    private record Reading(String text, Topology topology) {}

    /**
     * Creates the converter of a machine.
     *
     * @param opened the topology while there is no text
     */
    HotplugFile(Topology opened) {
        this.opened = opened;
    }

    /**
     * The text of a topology.
     *
     * @throws DpuException INVALID_VALUE if it could not be parsed again: writing it would leave
     *     all programs of the folder without devices
     */
    String write(Topology topology) {
        String text = topology.canonicalText();
        DpuException cause = null;
        try {
            if (Topology.parse(opened.name(), text).functions().equals(topology.functions())) {
                return text;
            }
        } catch (DpuException e) {
            cause = e;
        }
        throw new DpuException(
                Status.INVALID_VALUE,
                "topology cannot be written down: text=" + text.lines().toList(),
                cause);
    }

    /**
     * The topology of a text.
     *
     * @throws DpuException BAD_CONFIG if it is not a topology
     */
    Topology read(@Nullable String text) {
        if (text == null) {
            return opened;
        }
        Reading before = last;
        if (before != null && before.text.equals(text)) {
            return before.topology;
        }
        try {
            Topology topology = Topology.parse(opened.name(), text);
            last = new Reading(text, topology);
            return topology;
        } catch (DpuException e) {
            throw new DpuException(
                    Status.BAD_CONFIG,
                    "what was plugged in cannot be read: topology="
                            + opened
                            + ", reason="
                            + e.getMessage(),
                    e);
        }
    }
}
