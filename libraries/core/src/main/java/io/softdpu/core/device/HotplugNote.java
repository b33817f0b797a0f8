package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/**
 * What a machine makes of the note that the programs of a fabric folder share on functions that
 * were plugged in: the canonical text of the whole topology as it is now. Any thread.
 */
final class HotplugNote {
    private final Topology opened;
    private volatile @Nullable Reading last;

    private record Reading(String note, Topology topology) {}

    /**
     * The note of a machine.
     *
     * @param opened what holds while there is no note
     */
    HotplugNote(Topology opened) {
        this.opened = opened;
    }

    /**
     * The note that says a topology.
     *
     * @throws DpuException INVALID_VALUE if nobody could read it: then it must not be written, or
     *     no program of the folder would have devices any more
     */
    String write(Topology topology) {
        String note = topology.canonicalText();
        DpuException cause = null;
        try {
            if (Topology.parse(opened.name(), note).functions().equals(topology.functions())) {
                return note;
            }
        } catch (DpuException e) {
            cause = e;
        }
        throw new DpuException(
                Status.INVALID_VALUE,
                "topology cannot be written down: text=" + note.lines().toList(),
                cause);
    }

    /**
     * The topology that a note says.
     *
     * @throws DpuException BAD_CONFIG if it is no topology
     */
    Topology read(@Nullable String note) {
        if (note == null) {
            return opened;
        }
        Reading before = last;
        if (before != null && before.note.equals(note)) {
            return before.topology;
        }
        try {
            Topology topology = Topology.parse(opened.name(), note);
            last = new Reading(note, topology);
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
